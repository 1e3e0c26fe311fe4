// SPDX-License-Identifier: BSD-3-Clause
// Shares against the optimum of the linear program that they solve: least T such that every node moves its bytes in T,
//     1 + (n-2) share_i <= B_i T,  n share_j <= C_j T,  shares sum to 1,  shares >= 0.
#include <glpk.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "plan/shares.h"

namespace hps {
namespace {

using Rates = std::vector<double>;

// The least T, by the simplex method in exact arithmetic. Columns: 1 is T, then the workers' shares, then the CPU-only
// nodes'.
class LinearProgram {
 public:
  LinearProgram(const Rates& worker, const Rates& cpu_only) : problem_(glp_create_prob()) {
    const int n = static_cast<int>(worker.size());
    const int k = static_cast<int>(cpu_only.size());
    glp_set_obj_dir(problem_, GLP_MIN);
    glp_add_cols(problem_, 1 + n + k);
    for (int column = 1; column <= 1 + n + k; ++column) glp_set_col_bnds(problem_, column, GLP_LO, 0, 0);
    glp_set_obj_coef(problem_, 1, 1);
    for (int i = 0; i < n; ++i) busy(2 + i, n - 2, worker[static_cast<std::size_t>(i)], 1);
    for (int j = 0; j < k; ++j) busy(2 + n + j, n, cpu_only[static_cast<std::size_t>(j)], 0);
    shares_sum_to_one(n + k);
  }
  ~LinearProgram() { glp_delete_prob(problem_); }
  LinearProgram(const LinearProgram&) = delete;
  LinearProgram& operator=(const LinearProgram&) = delete;

  double least_time() {
    glp_smcp options;
    glp_init_smcp(&options);
    options.msg_lev = GLP_MSG_OFF;
    EXPECT_EQ(glp_exact(problem_, &options), 0);
    EXPECT_EQ(glp_get_status(problem_), GLP_OPT);
    return glp_get_obj_val(problem_);
  }

 private:
  // own + factor * share <= rate * T
  void busy(int column, double factor, double rate, double own) {
    const int row = glp_add_rows(problem_, 1);
    glp_set_row_bnds(problem_, row, GLP_LO, own, 0);
    const int columns[] = {0, 1, column};
    const double values[] = {0, rate, -factor};
    glp_set_mat_row(problem_, row, 2, columns, values);
  }

  void shares_sum_to_one(int shares) {
    const int row = glp_add_rows(problem_, 1);
    glp_set_row_bnds(problem_, row, GLP_FX, 1, 1);
    std::vector<int> columns(1);
    for (int column = 2; column <= 1 + shares; ++column) columns.push_back(column);
    const std::vector<double> values(columns.size(), 1.0);
    glp_set_mat_row(problem_, row, shares, columns.data(), values.data());
  }

  glp_prob* problem_;
};

void expect_optimal(const Rates& worker, const Rates& cpu_only) {
  SCOPED_TRACE("n=" + std::to_string(worker.size()) + " k=" + std::to_string(cpu_only.size()));
  Shares shares;
  double bound = -1;
  ASSERT_TRUE(shares_by_bandwidth(worker, cpu_only, &shares).ok());
  ASSERT_TRUE(bound_seconds(1, worker, cpu_only, &bound).ok());
  double whole = 0;
  for (const std::vector<double>& kind : {shares.worker, shares.cpu_only}) {
    for (const double share : kind) {
      EXPECT_GE(share, 0);
      whole += share;
    }
  }
  EXPECT_NEAR(whole, 1, 1e-12);
  const double optimum = LinearProgram(worker, cpu_only).least_time();
  EXPECT_NEAR(bound, optimum, 1e-9 * optimum);
  EXPECT_NEAR(seconds_of_shares(1, shares, worker, cpu_only), optimum, 1e-9 * optimum);
}

class SharesAgainstLinearProgram : public testing::Test {
 protected:
  void SetUp() override { glp_term_out(GLP_OFF); }
  void TearDown() override { glp_free_env(); }

  // Rates up to `ratio` apart, evenly on a logarithmic scale. mt19937_64 gives the same numbers everywhere.
  Rates random_rates(std::size_t count, double ratio) {
    Rates rates;
    for (std::size_t i = 0; i < count; ++i) {
      rates.push_back(std::pow(ratio, static_cast<double>(random_() >> 11) * 0x1p-53));
    }
    return rates;
  }

  std::mt19937_64 random_{20201104};
};

TEST_F(SharesAgainstLinearProgram, EqualBandwidths) {
  for (std::size_t n = 1; n <= 6; ++n) {
    for (std::size_t k = 0; k <= 8; ++k) expect_optimal(Rates(n, 1), Rates(k, 1));
  }
}

TEST_F(SharesAgainstLinearProgram, RandomBandwidths) {
  for (const double ratio : {1.5, 4.0, 100.0, 1e6}) {
    for (int round = 0; round < 100; ++round) {
      const std::size_t n = 1 + random_() % 12;
      const std::size_t k = random_() % 15;
      expect_optimal(random_rates(n, ratio), random_rates(k, ratio));
    }
  }
}

TEST_F(SharesAgainstLinearProgram, OneSlowNode) {
  for (const double rate : {1e-6, 0.01, 0.25, 0.5, 0.9}) {
    Rates workers(8, 1);
    Rates cpu_only(4, 1);
    workers[3] = rate;
    expect_optimal(workers, cpu_only);
    std::swap(workers[3], cpu_only[2]);
    expect_optimal(workers, cpu_only);
  }
}

}  // namespace
}  // namespace hps
