/* Windows: so far, none. */
#include "rank.h"

void windows_check_end(void) {}
