/* Loaded into wrk: it asks for answers without ever falling asleep over them. See machine.mjs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <time.h>

static long milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
  static int (*ask)(int, struct epoll_event *, int, int) = NULL;
  if (ask == NULL) ask = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
  long start = milliseconds();
  for (;;) {
    int ready = ask(epoll, events, most, 0);
    if (ready != 0 || (timeout >= 0 && milliseconds() - start >= timeout)) return ready;
  }
}
