/* Time: wall clock for records, monotonic clock for durations and deadlines. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_wall_ms(void); /* UTC milliseconds since 1970 */
int64_t clock_mono_us(void); /* microseconds of a clock that never steps back */

#endif
