/* The log: one line an event on stderr, `time level module message`. Text from outside is escaped,
 * so that no player's words can forge a line or move the cursor. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

void log_level(enum log_level least); /* default LOG_INFO; AGON_LOG=debug|info|warn|error sets it */
void log_line(enum log_level level, const char *module, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define log_debug(module, ...) log_line(LOG_DEBUG, module, __VA_ARGS__)
#define log_info(module, ...) log_line(LOG_INFO, module, __VA_ARGS__)
#define log_warn(module, ...) log_line(LOG_WARN, module, __VA_ARGS__)
#define log_error(module, ...) log_line(LOG_ERROR, module, __VA_ARGS__)

#endif
