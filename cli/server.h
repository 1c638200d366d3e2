/* The server of a run, for commands that have something to ask of it. */
#ifndef CLI_SERVER_H
#define CLI_SERVER_H

#include "base/http.h"

/* By the run folder's serve.json. NULL: there is none, or it cannot be read. */
struct http *server_connect(const char *run);

#endif
