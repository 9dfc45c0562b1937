/* Drops a box on a floor: prints its height after 0.3 s, its first impact, and its height at rest.
 *
 * cc -std=c99 -Wall -Wextra -pedantic -Werror -I crates/carom-capi/include crates/carom-capi/examples/drop.c \
 *     -L target/release -lcarom_capi -o drop && LD_LIBRARY_PATH=target/release ./drop */
#include <carom.h>
#include <stdio.h>
#include <string.h>

static const char TOML[] =
    "duration = 2.0\n"
    "contact = { friction = 0.3, restitution = 0.2 }\n"
    "planes = [{ name = \"floor\", normal = [0.0, 0.0, 1.0] }]\n"
    "[[bodies]]\n"
    "name = \"box\"\n"
    "mass = 2.0\n"
    "shape = { type = \"box\", half_extents = [0.2, 0.15, 0.1] }\n"
    "position = [0.0, 0.0, 1.1]\n";

static int failed(const char *call) {
    fprintf(stderr, "%s: %s\n", call, carom_error());
    return 1;
}

int main(void) {
    CaromWorld *world = NULL;
    CaromSession *session = NULL;
    CaromEvent event;
    double body[13];

    if (carom_world_read(TOML, strlen(TOML), NULL, &world) != CAROM_OK) return failed("carom_world_read");
    if (carom_start(world, &session) != CAROM_OK) return failed("carom_start");
    carom_world_free(world); /* a session outlives its world */

    if (carom_advance(session, 0.3, NULL) != CAROM_OK) return failed("carom_advance");
    if (carom_state(session, body, NULL) != CAROM_OK) return failed("carom_state");
    printf("%s after 0.3 s: %.12f\n", carom_body(session, 0), body[2]);

    if (carom_next_event(session, 2.0, &event) != CAROM_OK) return failed("carom_next_event");
    printf("event %d at %.12f, impulse %.12f\n", event.kind, event.time, event.impulse[2]);

    if (carom_advance(session, 2.0, NULL) != CAROM_OK) return failed("carom_advance");
    if (carom_state(session, body, NULL) != CAROM_OK) return failed("carom_state");
    printf("at rest: %.9f\n", body[2]);
    carom_session_free(session);
    return 0;
}
