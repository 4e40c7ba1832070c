// Everything a program includes to use Dissent: mixtures and their uncertainty, tables, ensembles, choices, campaigns.
//
//   dissent::uncertainty(...)   how much the components of an ensemble disagree, in nats
//   dissent::fit(...)           an ensemble from rows of numbers; predict, evaluate, save
//   dissent::choose(...)        which rows to label next
//   dissent::learn(...)         a whole campaign
//
// Matrices are row-major and contiguous. Bad input throws InputError, a failure of the machine SystemError
// (base/error.hpp).
#pragma once

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/uncertainty.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"
#include "dissent/ensemble/ensemble.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/ensemble/recalibration.hpp"
#include "dissent/ensemble/summary.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/loop/laboratory.hpp"
#include "dissent/loop/learn.hpp"
#include "dissent/problem/problem.hpp"
#include "dissent/table/read_table.hpp"
