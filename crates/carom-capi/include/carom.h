/* carom.h: the C interface of carom, written by `cargo xtask capi --bless`.
 *
 * Every pointer may be NULL: CAROM_INVALID, or nothing happens (free, names, numbers). No function unwinds.
 * A handle is used by one thread at a time, different handles by any threads. Units: SI; axes: space. Texts are UTF-8.
 */

#ifndef CAROM_H
#define CAROM_H

#include <stddef.h>

/*
 No event.
 */
#define CAROM_NONE 0

/*
 An impact at one or several contacts.
 */
#define CAROM_IMPACT 1

/*
 A contact becomes a lasting contact.
 */
#define CAROM_ESTABLISHED 2

/*
 A lasting contact begins to slide or to stick.
 */
#define CAROM_MODE 3

/*
 A lasting contact opens.
 */
#define CAROM_RELEASED 4

/*
 Status of a call.
 */
typedef enum CaromStatus {
  /*
   The call did what it says.
   */
  CAROM_OK = 0,
  /*
   An argument, a text or bytes are at fault; nothing has changed.
   */
  CAROM_INVALID = 1,
  /*
   The run stopped or has ended, or the problem has no answer.
   */
  CAROM_FAILED = 2,
  /*
   A fault of carom: please report it.
   */
  CAROM_PANIC = 3,
} CaromStatus;

/*
 Run of a world that goes on from call to call.
 */
typedef struct CaromSession CaromSession;

/*
 World that was read.
 */
typedef struct CaromWorld CaromWorld;

/*
 Event of a run.
 */
typedef struct CaromEvent {
  /*
   One of CAROM_NONE, CAROM_IMPACT, CAROM_ESTABLISHED, CAROM_MODE, CAROM_RELEASED.
   */
  int kind;
  /*
   Time (s).
   */
  double time;
  /*
   Index of the first body; of a limit: that of the coordinate.
   */
  size_t first;
  /*
   Index of the other body or plane, bodies are counted first; of a limit: 0 lower or 1 upper.
   */
  size_t second;
  /*
   Impulse on `first` (N s) of an impact, at several contacts of the first of them; of a limit: that along the coordinate, 0, 0.
   */
  double impulse[3];
} CaromEvent;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Version of the library, as `0.1.0`.
 */
const char *carom_version(void);

/*
 Last failure in this thread, {"kind":"..","message":".."}, until its next call; "" after success.
 */
const char *carom_error(void);

/*
 Frees the memory of an answer of `carom_line` or of a snapshot of `carom_snapshot`.
 */
void carom_free(void *memory);

/*
 Answers a line: `command` is "resolve", "judge" or "lcp". The answer, which ends with 0, has the bytes of the command line without the
 last newline, and is freed by `carom_free`. CAROM_OK also where it is an error line.
 */
enum CaromStatus carom_line(const char *command,
                            const char *line,
                            size_t length,
                            char **answer);

/*
 Solves w = M z + q, w >= 0, z >= 0, w z = 0: `matrix` has n n numbers row by row, `vector`, `z` and `w` have n. CAROM_FAILED: no
 solution was found, `z` and `w` are untouched.
 */
enum CaromStatus carom_lcp(size_t n, const double *matrix, const double *vector, double *z, double *w);

/*
 Reads a world: a configuration in TOML of `length` bytes. `folder` is that of the files that the text names, or NULL for the current one.
 */
enum CaromStatus carom_world_read(const char *toml,
                                  size_t length,
                                  const char *folder,
                                  struct CaromWorld **world);

/*
 Frees a world. Its sessions go on.
 */
void carom_world_free(struct CaromWorld *world);

/*
 Starts a session, which outlives its world.
 */
enum CaromStatus carom_start(const struct CaromWorld *world, struct CaromSession **session);

/*
 Copies a session; both go on independently.
 */
enum CaromStatus carom_copy(const struct CaromSession *session, struct CaromSession **copy);

/*
 Frees a session.
 */
void carom_session_free(struct CaromSession *session);

/*
 Number of bodies.
 */
size_t carom_n_bodies(const struct CaromSession *session);

/*
 Number of joint coordinates, those of spherical joints left out.
 */
size_t carom_n_coordinates(const struct CaromSession *session);

/*
 Name of a body, which lives as long as the session; NULL beyond the end.
 */
const char *carom_body(const struct CaromSession *session, size_t body);

/*
 Name of a joint coordinate, which lives as long as the session; NULL beyond the end.
 */
const char *carom_coordinate(const struct CaromSession *session, size_t coordinate);

/*
 Time up to which all events are handled (s); NaN for NULL.
 */
double carom_time(const struct CaromSession *session);

/*
 Advances to a time (s): handles all events up to it, and writes their number unless `events` is NULL. A run that stops gives
 CAROM_FAILED, at every further call, too; after another ending nothing happens.
 */
enum CaromStatus carom_advance(struct CaromSession *session, double time, size_t *events);

/*
 Advances to the first event up to `until` (s), or to `until` (CAROM_NONE).
 */
enum CaromStatus carom_next_event(struct CaromSession *session, double until, struct CaromEvent *event);

/*
 Writes the state at the present time. `bodies`: 13 numbers for each, x y z qw qx qy qz vx vy vz wx wy wz; `coordinates`: all positions, then
 all rates. Each may be NULL.
 */
enum CaromStatus carom_state(const struct CaromSession *session,
                             double *bodies,
                             double *coordinates);

/*
 Sets the state of a body, which its joints must allow, in the order of `carom_state`; time and other bodies stay.
 */
enum CaromStatus carom_set_body(struct CaromSession *session, size_t body, const double *state13);

/*
 Sets force (N) and torque (N m) on a body, in space, at its center of mass; both are held until set again. NULL: zero.
 */
enum CaromStatus carom_set_force(struct CaromSession *session, size_t body, const double *force3, const double *torque3);

/*
 Applies an impulse (N s) to a body, at a point in space (m); NULL: at its center of mass.
 */
enum CaromStatus carom_impulse(struct CaromSession *session, size_t body, const double *impulse3, const double *at3);

/*
 Sets the forces along all joint coordinates (N m or N), on top of the actuators; they are held until set again.
 */
enum CaromStatus carom_set_control(struct CaromSession *session, const double *forces);

/*
 Writes a snapshot: all that the future of the session depends on. It is freed by `carom_free`.
 */
enum CaromStatus carom_snapshot(const struct CaromSession *session, unsigned char **bytes, size_t *length);

/*
 Goes on from a snapshot of another session of this world.
 */
enum CaromStatus carom_restore(struct CaromSession *session, const unsigned char *bytes, size_t length);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CAROM_H */
