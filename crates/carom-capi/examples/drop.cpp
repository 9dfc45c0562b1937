// Drops a box on a floor, by handles that free themselves and failures that are exceptions.
//
// c++ -std=c++17 -Wall -Wextra -pedantic -Werror -I crates/carom-capi/include crates/carom-capi/examples/drop.cpp
//     -L target/release -lcarom_capi -o drop && LD_LIBRARY_PATH=target/release ./drop
#include <carom.h>

#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

void check(CaromStatus status) {
    if (status != CAROM_OK) throw std::runtime_error(carom_error());
}

class Session;

class World {
public:
    explicit World(const std::string &toml, const char *folder = nullptr) {
        CaromWorld *world = nullptr;
        check(carom_world_read(toml.data(), toml.size(), folder, &world));
        handle_.reset(world);
    }
    inline Session start() const;

private:
    struct Free {
        void operator()(CaromWorld *world) const { carom_world_free(world); }
    };
    std::unique_ptr<CaromWorld, Free> handle_;
};

class Session {
public:
    Session(const Session &other) {
        CaromSession *session = nullptr;
        check(carom_copy(other.handle_.get(), &session));
        handle_.reset(session);
    }
    Session(Session &&) = default;
    Session &operator=(Session other) {
        handle_.swap(other.handle_);
        return *this;
    }
    ~Session() = default;

    double time() const { return carom_time(handle_.get()); }
    void advance(double time) { check(carom_advance(handle_.get(), time, nullptr)); }
    CaromEvent next_event(double until) {
        CaromEvent event;
        check(carom_next_event(handle_.get(), until, &event));
        return event;
    }
    std::array<double, 13> body() const {  // of a world with one body
        std::array<double, 13> state;
        check(carom_state(handle_.get(), state.data(), nullptr));
        return state;
    }

private:
    friend class World;
    explicit Session(CaromSession *session) : handle_(session) {}
    struct Free {
        void operator()(CaromSession *session) const { carom_session_free(session); }
    };
    std::unique_ptr<CaromSession, Free> handle_;
};

Session World::start() const {
    CaromSession *session = nullptr;
    check(carom_start(handle_.get(), &session));
    return Session(session);
}

const char *const TOML = R"(
    duration = 2.0
    contact = { friction = 0.3, restitution = 0.2 }
    planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
    [[bodies]]
    name = "box"
    mass = 2.0
    shape = { type = "box", half_extents = [0.2, 0.15, 0.1] }
    position = [0.0, 0.0, 1.1]
)";

}  // namespace

int main() try {
    Session session = World(TOML).start();  // a session outlives its world
    session.advance(0.3);
    std::printf("box after 0.3 s: %.12f\n", session.body()[2]);
    Session copy = session;
    const CaromEvent event = session.next_event(2.0);
    std::printf("event %d at %.12f, impulse %.12f\n", event.kind, event.time, event.impulse[2]);
    session.advance(2.0);
    std::printf("at rest: %.9f, the copy is at %.1f s\n", session.body()[2], copy.time());
    try {
        session.advance(1.0);
    } catch (const std::exception &error) {
        std::printf("%s\n", error.what());
    }
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
