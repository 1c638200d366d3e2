/* The server of a run, for commands that have something to ask of it, or to say of it. */
#ifndef CLI_SERVER_H
#define CLI_SERVER_H

#include <stdbool.h>

#include "base/http.h"

#define SERVER_LINK 192

/* By the run folder's serve.json. NULL: there is none, or it cannot be read. */
struct http *server_connect(const char *run);
/* The address of the web page. `token`: with the run's token, which lets whoever has the link play
 * and stop the server, so it is for the terminal of the run's owner and not for logs. false: there
 * is no server. */
bool server_page(const char *run, bool token, char out[SERVER_LINK]);

#endif
