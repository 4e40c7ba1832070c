// dissent study serve: the page of a study while its grid runs, for a browser on this machine.
//
// It listens only on 127.0.0.1, and answers only requests to that name or to localhost, so that a page from elsewhere
// cannot read it under another name.
#include "command.hpp"
#include "console.hpp"
#include "dissent/base/error.hpp"

#ifdef DISSENT_HAS_SERVER
#include <httplib.h>
#include <sys/socket.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "dissent/base/digest.hpp"
#include "dissent/report/study_page.hpp"
#include "dissent/study/results.hpp"
#include "interrupt.hpp"
#include "page_files.hpp"
#endif

namespace dissent::cli {
namespace {

struct StudyServeArguments {
  std::string store;
  std::string study;
  int port = 8765;
};

#ifdef DISSENT_HAS_SERVER

constexpr const char* kHere = "127.0.0.1";

// The page of a study as it stands. Requests come from several threads, and take turns.
class StudyPages {
 public:
  StudyPages(const StudyServeArguments& arguments)
      : store_(StudyStore::open(arguments.store, StudyStore::Access::kRead)), study_(arguments.study) {}

  std::string store_name() const { return store_->name(); }

  std::string html() {
    const std::lock_guard lock(mutex_);
    const std::string now = state();
    if (now != version_) {
      html_ = report::to_live_html(report::study_page(read_results(*store_, study_)), page_files(), now);
      version_ = now;
    }
    return html_;
  }

  std::string version() {
    const std::lock_guard lock(mutex_);
    return state();
  }

 private:
  // Changes with what the page shows, but not with every heartbeat of a worker.
  std::string state() {
    Digest digest;
    for (const std::string& study : study_.empty() ? store_->studies() : std::vector{study_}) {
      for (const CellRecord& cell : store_->cells(study)) {
        digest.add_bytes(fmt::format("{}\n{} {}\n", cell.name, cell_state_name(cell.state), cell.rounds));
      }
      for (const Measurement& measured : store_->measurements(study)) {
        digest.add(std::vector{measured.at, measured.value});
        digest.add_bytes(
            fmt::format("{} {} {} {}\n", measured.kind, measured.problem, measured.model, measured.estimator));
        for (const std::size_t number : {measured.outputs, measured.components, measured.samples}) {
          digest.add_word(number);
        }
      }
    }
    return fmt::format("{:016x}", digest.value());
  }

  std::mutex mutex_;
  std::unique_ptr<StudyStore> store_;
  std::string study_;
  std::string version_;
  std::string html_;
};

void route(httplib::Server& server, StudyPages& pages, int port) {
  server.set_default_headers({{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
  server.set_pre_routing_handler([port](const httplib::Request& request, httplib::Response& response) {
    const std::string host = request.get_header_value("Host");
    if (host == fmt::format("{}:{}", kHere, port) || host == fmt::format("localhost:{}", port)) {
      return httplib::Server::HandlerResponse::Unhandled;
    }
    response.status = 403;
    response.set_content("This page is for this machine.\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  });
  const auto answer = [](httplib::Response& response, const char* type, const auto& content) {
    try {
      response.set_content(content(), type);
    } catch (const std::exception& error) {
      response.status = 500;
      response.set_content(fmt::format("{}\n", error.what()), "text/plain; charset=utf-8");
    }
  };
  server.Get("/", [&pages, answer](const httplib::Request&, httplib::Response& response) {
    answer(response, "text/html; charset=utf-8", [&] { return pages.html(); });
  });
  server.Get("/version", [&pages, answer](const httplib::Request&, httplib::Response& response) {
    answer(response, "text/plain", [&] { return pages.version(); });
  });
}

// Returns the port that it got; 0 asks for any. Unlike with the library's own options, two servers never share a port.
int bind(httplib::Server& server, int port) {
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  if (port == 0) {
    port = server.bind_to_any_port(kHere);
    return port > 0 ? port : (fail_system("there is no free port on {}", kHere), 0);
  }
  if (!server.bind_to_port(kHere, port)) {
    fail_system("port {} of {} is taken; --port 0 takes any that is free", port, kHere);
  }
  return port;
}

void run_serve(const StudyServeArguments& arguments) {
  page_files();  // fails before any work in a build without pages
  StudyPages pages(arguments);
  pages.html();
  httplib::Server server;
  const int port = bind(server, arguments.port);
  route(server, pages, port);
  const Interrupt interrupt;
  std::jthread listener([&] { server.listen_after_bind(); });
  print_line("http://{}:{}/ shows {}; Ctrl-C ends it", kHere, port, pages.store_name());
  flush_output();
  while (!interrupt.noted()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  server.stop();
}

#else

void run_serve(const StudyServeArguments&) {
  fail("this program was built without a server; it needs libcpp-httplib-dev. 'dissent report' writes the same page");
}

#endif

}  // namespace

void add_study_serve(Command& study) {
  Command& command = study.add("serve", "Show the page of a study while it runs, in a browser on this machine",
                               "  dissent study serve sqlite:runs.db\n"
                               "The page loads itself again when the study has changed. Ctrl-C ends the server.");
  const auto arguments = std::make_shared<StudyServeArguments>();
  command.argument("STORE", arguments->store, "sqlite:FILE or postgresql://USER@HOST/DATABASE");
  command.option("--study", arguments->study, {.help = "One of the studies in the store", .shown = "NAME"});
  command.option("-p,--port", arguments->port,
                 {.help = "Of 127.0.0.1; 0 takes any that is free", .shown = "P", .least = 0, .most = 65535});
  command.run([arguments] { run_serve(*arguments); });
}

}  // namespace dissent::cli
