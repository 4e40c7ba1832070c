#include "dissent/simulator/robot.hpp"

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"

#if DISSENT_HAS_MUJOCO

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <mutex>

#include "dissent/base/digest.hpp"
#include "dissent/base/file.hpp"
#include "dissent/base/names.hpp"
#include "dissent/simulator/named_data.hpp"

namespace dissent {
namespace {

// MuJoCo's default handlers end the process and write MUJOCO_LOG.TXT into the working directory. An error becomes an
// exception that unwinds through MuJoCo's frames (they hold nothing but its own stack, which dies with the mjData); a
// warning needs no text, because step() reads the counters.
void raise_mujoco_error(const char* message) { fail_system("MuJoCo: {}", message); }
void ignore_mujoco_warning(const char*) {}

struct FreeModel {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
};
struct FreeData {
  void operator()(mjData* data) const { mj_deleteData(data); }
};
using ModelPointer = std::unique_ptr<mjModel, FreeModel>;

constexpr const char* kBuiltIn = "built-in";

// What tells one robot from another, besides its model.
struct Task {
  const char* name;
  std::size_t observation_size;
  int num_positions, num_velocities, num_actions, num_bodies;
  int frames_per_step;
  double position_noise;  // uniform on +- this
  double velocity_noise;  // uniform on +- this, or the stddev of a normal
  bool normal_velocity_noise;
  void (*observe)(const mjModel&, const mjData&, double*);
  double (*progress)(const mjModel&, const mjData&);  // the x coordinate whose speed is paid
  double speed_weight, control_weight, alive_bonus;
  bool (*healthy)(const mjModel&, const mjData&);
};

double* append(double* out, const mjtNum* values, int count) { return std::copy(values, values + count, out); }

void observe_hopper(const mjModel& model, const mjData& data, double* out) {
  out = append(out, data.qpos + 1, model.nq - 1);
  for (int k = 0; k < model.nv; ++k) {
    *out++ = std::clamp(data.qvel[k], -10.0, 10.0);
  }
}

void observe_ant(const mjModel& model, const mjData& data, double* out) {
  out = append(out, data.qpos + 2, model.nq - 2);
  append(out, data.qvel, model.nv);
}

void observe_humanoid(const mjModel& model, const mjData& data, double* out) {
  out = append(out, data.qpos + 2, model.nq - 2);
  out = append(out, data.qvel, model.nv);
  for (int body = 1; body < model.nbody; ++body) {
    out = append(out, data.cinert + 10 * body, 9);  // the tenth entry is the mass
  }
  out = append(out, data.cvel + 6, 6 * (model.nbody - 1));
  append(out, data.qfrc_actuator + 6, model.nv - 6);
}

double hopper_position(const mjModel&, const mjData& data) { return data.qpos[0]; }
double torso_position(const mjModel&, const mjData& data) { return data.xpos[3]; }

double mass_centre(const mjModel& model, const mjData& data) {
  double moment = 0;
  double mass = 0;
  for (int body = 0; body < model.nbody; ++body) {
    moment += model.body_mass[body] * data.xipos[3 * body];
    mass += model.body_mass[body];
  }
  return moment / mass;
}

bool hopper_healthy(const mjModel& model, const mjData& data) {
  const auto small = [](mjtNum x) { return std::abs(x) < 100; };
  return data.qpos[1] > 0.7 && std::abs(data.qpos[2]) < 0.2 &&
         std::all_of(data.qpos + 2, data.qpos + model.nq, small) && std::all_of(data.qvel, data.qvel + model.nv, small);
}
bool ant_healthy(const mjModel&, const mjData& data) { return data.qpos[2] >= 0.2 && data.qpos[2] <= 1.0; }
bool humanoid_healthy(const mjModel&, const mjData& data) { return data.qpos[2] >= 1.0 && data.qpos[2] <= 2.0; }

constexpr Task kTasks[] = {
    {"hopper", 11, 6, 6, 3, 5, 4, 0.005, 0.005, false, observe_hopper, hopper_position, 1, 0.001, 1, hopper_healthy},
    {"ant", 27, 15, 14, 8, 14, 5, 0.1, 0.1, true, observe_ant, torso_position, 1, 0.5, 1, ant_healthy},
    {"humanoid", 257, 24, 23, 17, 14, 5, 0.01, 0.01, false, observe_humanoid, mass_centre, 1.25, 0.1, 5,
     humanoid_healthy},
};

const Task& find_task(std::string_view name) {
  for (const Task& task : kTasks) {
    if (task.name == name) {
      return task;
    }
  }
  fail("Robot: no robot is called \"{}\" (known: hopper, ant, humanoid)", name);
}

// Runs MuJoCo on a model. If it cannot cope (too small a stack, say), the model file is at fault.
template <class Body>
auto on_model(const std::string& file, Body&& body) {
  try {
    return body();
  } catch (const SystemError& error) {
    check_in(file, file.empty() || file == kBuiltIn, "the model cannot be simulated: {}", error.what());
    throw;
  }
}

constexpr std::size_t kMessageSize = 1000;

mjModel* compile_text(std::string_view text, char* message) {
  const auto files = std::make_unique<mjVFS>();  // some megabytes: not for the stack
  mj_defaultVFS(files.get());
  mj_makeEmptyFileVFS(files.get(), "model.xml", static_cast<int>(text.size()));
  std::memcpy(files->filedata[0], text.data(), text.size());
  mjModel* model = mj_loadXML("model.xml", files.get(), message, kMessageSize);
  mj_deleteVFS(files.get());
  return model;
}

// MuJoCo opens the file itself, so it finds included files beside it.
mjModel* compile_file(const std::string& file, char* message) {
  const MappedFile mapped(file);  // names a missing file, a directory and missing rights better than MuJoCo does
  check_in(file, !mapped.bytes().empty(), "the model file is empty");
  return mj_loadXML(file.c_str(), nullptr, message, kMessageSize);
}

// The model of a file, or the built-in one. MuJoCo's parser keeps global state, hence the lock.
ModelPointer compile_model(const Task& task, const std::string& file) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  check(mj_version() == mjVERSION_HEADER, "MuJoCo: this program was built with version {} and runs with {}",
        mjVERSION_HEADER, mj_version());
  if (mju_user_error == nullptr) {  // a program that has its own handlers keeps them
    mju_user_error = raise_mujoco_error;
  }
  if (mju_user_warning == nullptr) {
    mju_user_warning = ignore_mujoco_warning;
  }
  char message[kMessageSize] = "";
  ModelPointer model(file.empty() ? compile_text(embedded_model(task.name), message) : compile_file(file, message));
  std::replace(std::begin(message), std::end(message), '\n', ' ');
  check_in(file, model != nullptr, "not a valid MuJoCo model: {}", static_cast<const char*>(message));
  return model;
}

std::string compiled_digest(const mjModel& model) {
  std::string bytes(static_cast<std::size_t>(mj_sizeModel(&model)), '\0');
  mj_saveModel(&model, nullptr, bytes.data(), static_cast<int>(bytes.size()));
  return fmt::format("{:016x}", digest(bytes));
}

void check_sizes(const mjModel& model, const Task& task, const std::string& source) {
  check_in(source,
           model.nq == task.num_positions && model.nv == task.num_velocities && model.nu == task.num_actions &&
               model.nbody == task.num_bodies,
           "the model has nq {}, nv {}, nu {}, nbody {}; {} needs {}, {}, {}, {}", model.nq, model.nv, model.nu,
           model.nbody, task.name, task.num_positions, task.num_velocities, task.num_actions, task.num_bodies);
  for (int k = 0; k < model.nu; ++k) {
    check_in(source, model.actuator_ctrllimited[k] != 0, "actuator {} has no ctrlrange; actions must be bounded", k);
  }
}

}  // namespace

struct Robot::State {
  const Task* task = nullptr;
  ModelPointer model;
  std::unique_ptr<mjData, FreeData> data;
  EnvironmentSpec spec;

  void forward() {
    on_model(spec.model, [this] { mj_forward(model.get(), data.get()); });
  }
  bool diverged() const {
    return data->warning[mjWARN_BADQPOS].number > 0 || data->warning[mjWARN_BADQVEL].number > 0 ||
           data->warning[mjWARN_BADQACC].number > 0;
  }
};

bool mujoco_available() { return true; }
std::string mujoco_version() { return mj_versionString(); }

Robot::Robot(std::string_view name, const EnvironmentOptions& options) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.task = &find_task(name);
  const std::string& file = options.model_file;
  s.model = on_model(file, [&] { return compile_model(*s.task, file); });
  check_sizes(*s.model, *s.task, file);
  s.spec.model = file.empty() ? kBuiltIn : file;
  s.spec.model_digest = compiled_digest(*s.model);
  if (options.euler) {
    s.model->opt.integrator = mjINT_EULER;
  }
  s.data.reset(mj_makeData(s.model.get()));
  if (s.data == nullptr) {
    fail_system("{}: MuJoCo could not allocate its state", name);
  }

  s.spec.name = s.task->name;
  s.spec.observation_size = s.task->observation_size;
  for (int k = 0; k < s.model->nu; ++k) {
    s.spec.action_low.push_back(s.model->actuator_ctrlrange[2 * k]);
    s.spec.action_high.push_back(s.model->actuator_ctrlrange[2 * k + 1]);
  }
  s.spec.seconds_per_step = s.task->frames_per_step * s.model->opt.timestep;
  s.spec.max_steps = options.max_steps > 0 ? options.max_steps : 1000;
  s.forward();
}

Robot::~Robot() = default;

const EnvironmentSpec& Robot::spec() const { return state_->spec; }

void Robot::reset(Stream& stream) {
  State& s = *state_;
  const Task& task = *s.task;
  mj_resetData(s.model.get(), s.data.get());
  const auto symmetric = [&stream](double bound) { return bound * (2 * stream.uniform() - 1); };
  for (int k = 0; k < s.model->nq; ++k) {
    s.data->qpos[k] = s.model->qpos0[k] + symmetric(task.position_noise);
  }
  for (int k = 0; k < s.model->nv; ++k) {
    s.data->qvel[k] =
        task.normal_velocity_noise ? task.velocity_noise * stream.normal() : symmetric(task.velocity_noise);
  }
  s.forward();
}

StepOutcome Robot::step(std::span<const double> action) {
  State& s = *state_;
  const Task& task = *s.task;
  std::copy(action.begin(), action.end(), s.data->ctrl);
  StepOutcome outcome;
  for (std::size_t k = 0; k < action.size(); ++k) {
    const double effort = std::clamp(action[k], s.spec.action_low[k], s.spec.action_high[k]);
    outcome.control_cost += task.control_weight * effort * effort;
  }

  const double before = task.progress(*s.model, *s.data);
  for (int frame = 0; frame < task.frames_per_step; ++frame) {
    on_model(s.spec.model, [&s] { mj_step(s.model.get(), s.data.get()); });
    if (s.diverged()) {  // MuJoCo has already put the state back to the start: what follows would be a lie
      outcome.unstable = true;
      outcome.terminated = true;
      return outcome;
    }
  }
  const double speed = (task.progress(*s.model, *s.data) - before) / s.spec.seconds_per_step;
  outcome.alive_bonus = task.alive_bonus;
  outcome.reward = task.speed_weight * speed + task.alive_bonus - outcome.control_cost;
  outcome.terminated = !task.healthy(*s.model, *s.data);

  // MuJoCo checks the state at the start of a step; the result of the last step is checked here.
  const auto finite = [](mjtNum x) { return std::isfinite(x); };
  outcome.unstable = !std::all_of(s.data->qpos, s.data->qpos + s.model->nq, finite) ||
                     !std::all_of(s.data->qvel, s.data->qvel + s.model->nv, finite) || !std::isfinite(outcome.reward);
  outcome.terminated = outcome.terminated || outcome.unstable;
  return outcome;
}

void Robot::observe(std::span<double> observation) const {
  state_->task->observe(*state_->model, *state_->data, observation.data());
}

std::vector<Segment> Robot::segments() const {
  const mjModel& model = *state_->model;
  const mjData& data = *state_->data;
  std::vector<Segment> segments;
  for (int geom = 0; geom < model.ngeom; ++geom) {
    if (model.geom_type[geom] != mjGEOM_CAPSULE && model.geom_type[geom] != mjGEOM_SPHERE) {
      continue;
    }
    const double half = model.geom_type[geom] == mjGEOM_CAPSULE ? model.geom_size[3 * geom + 1] : 0;
    Segment segment;
    segment.radius = model.geom_size[3 * geom];
    for (int axis = 0; axis < 3; ++axis) {  // a capsule lies along the z axis of its frame, the matrix's third column
      const double along = half * data.geom_xmat[9 * geom + 3 * axis + 2];
      segment.begin[axis] = data.geom_xpos[3 * geom + axis] - along;
      segment.end[axis] = data.geom_xpos[3 * geom + axis] + along;
    }
    segments.push_back(segment);
  }
  return segments;
}

std::span<const double> Robot::qpos() const {
  return {state_->data->qpos, static_cast<std::size_t>(state_->model->nq)};
}
std::span<const double> Robot::qvel() const {
  return {state_->data->qvel, static_cast<std::size_t>(state_->model->nv)};
}

void Robot::set_state(std::span<const double> qpos, std::span<const double> qvel) {
  check(qpos.size() == this->qpos().size() && qvel.size() == this->qvel().size(),
        "Robot::set_state: {} positions and {} velocities given; {} has {} and {}", qpos.size(), qvel.size(),
        state_->spec.name, this->qpos().size(), this->qvel().size());
  mj_resetData(state_->model.get(), state_->data.get());
  std::copy(qpos.begin(), qpos.end(), state_->data->qpos);
  std::copy(qvel.begin(), qvel.end(), state_->data->qvel);
  state_->forward();
}

}  // namespace dissent

#else  // without MuJoCo

namespace dissent {

struct Robot::State {};

bool mujoco_available() { return false; }
std::string mujoco_version() { return "none"; }

Robot::Robot(std::string_view name, const EnvironmentOptions&) {
  fail(
      "environment {}: this build has no MuJoCo 2.2.2; install libmujoco-dev of that version and configure the build "
      "again",
      name);
}
// No object exists, so none of the following is ever called.
Robot::~Robot() = default;
const EnvironmentSpec& Robot::spec() const { std::terminate(); }
void Robot::reset(Stream&) { std::terminate(); }
StepOutcome Robot::step(std::span<const double>) { std::terminate(); }
void Robot::observe(std::span<double>) const { std::terminate(); }
std::vector<Segment> Robot::segments() const { std::terminate(); }
std::span<const double> Robot::qpos() const { std::terminate(); }
std::span<const double> Robot::qvel() const { std::terminate(); }
void Robot::set_state(std::span<const double>, std::span<const double>) { std::terminate(); }

}  // namespace dissent

#endif
