// SPDX-License-Identifier: BSD-3-Clause
// How a group goes from one plan to the next.
//
// Member 0 finds out that calls take longer than the plan says, or that the plan does not know the links' rates. It
// says so in the header of every push of its next call, owners pass that on with every result, and no result is without
// a push of member 0: so whoever has the call's result knows that the next call waits for a plan, and nobody asks.
// Member 0 has the links measured (Survey), makes a plan where they differ from what it says, and sends it to all. To
// owners a group with another plan is another group, which members join, and leave the old one; CPU-only ranks need to
// know no more. A call that comes meanwhile is held, and looked after as any other.
#include <algorithm>
#include <utility>

#include "engine/membership.h"
#include "plan/rates.h"

namespace hps {

using wire::MessageType;

namespace {

constexpr double news = 0.1;  // rates that have changed by less are no reason for another plan

double seconds(TimeNs ns) { return static_cast<double>(ns) * 1e-9; }

bool tells_news(const Plan& before, const Plan& after) {
  return !std::equal(before.nodes.begin(), before.nodes.end(), after.nodes.begin(), after.nodes.end(),
                     [](const PlanNodeShare& a, const PlanNodeShare& b) {
                       return b.rate > a.rate * (1 - news) && b.rate < a.rate * (1 + news);
                     });
}

bool is_successor(const wire::GroupSpec& next, const wire::GroupSpec& spec) {
  return next.id.root == spec.id.root && next.id.counter == spec.id.counter && next.members == spec.members &&
         next.layout == spec.layout;
}

std::uint16_t number_after(std::uint16_t number) {
  return number == UINT16_MAX ? std::uint16_t{1} : static_cast<std::uint16_t>(number + 1);
}

}  // namespace

void Membership::allow_renewal(PlanBasis basis) {
  if (self_ != 0u || !helpers_.empty() || basis.nodes.size() < 2) return;
  renewal_ = std::make_unique<Renewal>(std::move(basis));
}

bool Membership::asks_for_renewal(std::uint32_t sequence) noexcept {
  if (self_ != 0u) return false;
  const Active* active = find_active(sequence);
  return active != nullptr && active->renews;
}

void Membership::hear_of_renewal(std::uint32_t sequence) noexcept {
  if (Active* active = find_active(sequence)) active->renews = true;
}

// From the first result on: before that the call waits for the last rank to come.
void Membership::time_result(std::uint32_t sequence) noexcept {
  if (std::exchange(renewal_->timed, sequence) != sequence) renewal_->first_result_ns = context_.now;
}

void Membership::time_end(const Operation& operation) {
  if (renewal_->timed != operation.sequence() || !operation.status().ok()) return;
  const wire::Signature& call = operation.signature();
  const double bytes = static_cast<double>(call.count) * static_cast<double>(datatype_bytes(call.datatype));
  renewal_->policy.on_call(plan(), bytes, seconds(context_.now - renewal_->first_result_ns), seconds(context_.now));
}

void Membership::begin_renewal(std::uint32_t after, bool is_complete) {
  renews_after_ = after;
  quiet_until_ = 0;
  if (self_ != 0u) return;
  if (!renewal_ || !is_complete) return announce({after, std::nullopt});
  std::vector<Rank> probes;
  for (const PlanNode& node : renewal_->basis.nodes) probes.push_back(node.owners.front());
  renewal_->after = after;
  renewal_->since_ns = context_.now;
  renewal_->survey.emplace(std::move(probes), renewal_->basis.survey, renewal_->next_order, context_.now);
  give_orders();
}

void Membership::give_orders() {
  for (const Survey::Order& order : renewal_->survey->take_orders()) {
    if (order.sender == context_.self) {
      count(context_.prober.send({context_.self, handle_, order.number}, order.what));
      continue;
    }
    wire::Header message = header(MessageType::measure, handle_);
    message.sequence = order.number;
    message.chunk = static_cast<std::uint32_t>(context_.self);
    tell(order.sender, message, wire::encode(order.what));
  }
}

Rejection Membership::on_measured(const wire::Header& header, ConstBytes payload) {
  wire::Measured measured;
  if (!wire::decode(payload, &measured)) return Rejection::malformed;
  if (!renewal_ || !renewal_->survey) return Rejection::late;
  const Rejection why =
      renewal_->survey->on_measured(header.sequence, static_cast<Rank>(header.chunk), measured, context_.now);
  if (why != Rejection::none) return why;
  give_orders();
  if (renewal_->survey->done()) end_survey();
  return Rejection::none;
}

// A rank that does not answer is no affair of a survey: calls find that out.
TimeNs Membership::watch_survey(TimeNs now) {
  if (!renewal_ || !renewal_->survey) return never_ns;
  if (now < renewal_->survey->deadline()) return renewal_->survey->deadline();
  end_survey();
  return never_ns;
}

// One that takes more memory than the owners have must not end what has worked: then chunks stay as long as they are.
Status Membership::make_next_plan(Plan* next) {
  PlanBasis& basis = renewal_->basis;
  const std::vector<double> rates = evened_out(renewal_->survey->rates());
  for (std::size_t node = 0; node < rates.size(); ++node) basis.nodes[node].rate = rates[node];
  PlanOptions options = basis.options;
  Plan made;
  HPS_RETURN_IF_ERROR(make_plan(basis.nodes, options, &made));
  if (made.least_memory_bytes(members()) > basis.memory_bytes) {
    options.chunk_bytes = plan().chunk_bytes;
    HPS_RETURN_IF_ERROR(make_plan(basis.nodes, options, &made));
  }
  if (made.least_memory_bytes(members()) > basis.memory_bytes)
    return {Code::no_memory, "it would take " + std::to_string(made.least_memory_bytes(members())) +
                                 " bytes, and a rank has HPS_SERVE_MEMORY=" + std::to_string(basis.memory_bytes)};
  made.number = number_after(plan().number);
  *next = std::move(made);
  return {};
}

void Membership::end_survey() {
  Renewal& renewal = *renewal_;
  NextPlan next{renewal.after, std::nullopt};
  if (renewal.survey->done()) {
    wire::GroupSpec spec = this->spec();
    const Status made = make_next_plan(&spec.plan);
    spec.id.plan = spec.plan.number;
    if (!made.ok())
      context_.log.warn("no new plan for comm " + name_ + ": " + made.text());
    else if (tells_news(plan(), spec.plan))
      next.spec = std::move(spec);
  } else {
    context_.log.info("the links of comm " + name_ + " could not be measured: a rank does not answer");
  }
  const TimeNs now = context_.now;
  renewal.policy.on_renewed(next.spec.has_value(), seconds(now - renewal.since_ns), seconds(now));
  renewal.next_order = renewal.survey->next_order();
  renewal.survey.reset();
  if (next.spec) context_.log.info("comm " + name_ + ": " + next.spec->plan.describe());
  announce(std::move(next));
}

void Membership::announce(NextPlan next) {
  if (renewal_) renewal_->has_changed = next.spec.has_value();
  for (std::uint32_t member = 1; member < members(); ++member) tell_plan(member, next);
  next_plan_ = std::move(next);
  take_next_plan();
}

void Membership::tell_plan(std::uint32_t member, const NextPlan& next) {
  wire::Header message = header(MessageType::new_plan, handles_[member]);
  message.sequence = next.after;
  tell(spec().members[member], message, next.spec ? wire::encode(*next.spec) : std::vector<std::byte>());
}

// A member that has waited for long may have been told wrongly that there is something to wait for.
TimeNs Membership::request_plan(TimeNs now) {
  if (self_ == 0u || !renews_after_) return never_ns;
  if (!plan_requests_.is_due(now, context_.watch.referee.inquire_ns)) return plan_requests_.next_ns();
  wire::Header message = header(MessageType::new_plan, handles_.front());
  message.sequence = *renews_after_;
  tell(spec().members.front(), message, wire::encode(wire::Sender{context_.self, handle_}));
  return plan_requests_.next_ns();
}

Rejection Membership::on_plan_request(const wire::Header& header, ConstBytes payload) {
  wire::Sender from;
  if (!wire::decode(payload, &from)) return Rejection::malformed;
  const auto member = std::find(spec().members.begin(), spec().members.end(), from.rank);
  if (member == spec().members.end() || from.rank == context_.self) return Rejection::unknown_rank;
  // It will be told when this call has ended, or the survey.
  if (find_active(header.sequence) != nullptr || !is_past(header.sequence) || awaits_plan()) return Rejection::none;
  const bool was_changed = renewal_ && renewal_->has_changed && renewal_->after == header.sequence;
  const NextPlan next{header.sequence, was_changed ? std::optional(spec()) : std::nullopt};
  tell_plan(static_cast<std::uint32_t>(member - spec().members.begin()), next);
  return Rejection::none;
}

Rejection Membership::on_new_plan(const wire::Header& header, ConstBytes payload) {
  NextPlan next{header.sequence, std::nullopt};
  if (closing_) return Rejection::late;
  if (!payload.empty()) {
    wire::GroupSpec spec;
    if (!wire::decode(payload, &spec).ok() || !is_successor(spec, this->spec())) return Rejection::malformed;
    if (spec.plan.number != number_after(plan().number) || !is_past(header.sequence)) return Rejection::late;
    next.spec = std::move(spec);
  } else if (renews_after_ != header.sequence && find_active(header.sequence) == nullptr) {
    return Rejection::late;
  }
  next_plan_ = std::move(next);
  take_next_plan();
  return Rejection::none;
}

// Once the call that it follows has ended here too.
void Membership::take_next_plan() {
  const auto comes_before = [&](const Active& active) {
    return static_cast<std::int32_t>(active.operation->sequence() - next_plan_->after) <= 0;
  };
  if (!next_plan_ || std::any_of(active_.begin(), active_.end(), comes_before)) return;
  std::optional<wire::GroupSpec> spec = std::exchange(next_plan_, std::nullopt)->spec;
  if (spec) change_plan(std::move(*spec));
  release_held();
}

void Membership::change_plan(wire::GroupSpec spec) {
  // A call that began under the old plan: only where this rank's call before it failed, and others' did not.
  for (std::size_t i = 0; i < active_.size(); ++i) {
    if (active_[i].held || active_[i].operation->ended()) continue;
    const std::uint32_t sequence = active_[i].operation->sequence();
    abort(sequence, {Code::peer_failed,
                     "rank " + std::to_string(context_.self) + ": the plan has changed, and its call " +
                         std::to_string(sequence) + " did not wait for it, as its call before had failed",
                     context_.self});
  }
  if (Status attached = context_.service.attach(spec); !attached.ok()) return fail(attached);
  context_.service.detach(this->spec().id);
  links().close();
  past_.push_back(std::exchange(term_, std::make_unique<Term>(std::move(spec), context_, handle_)));
  links().open(this->spec(), self_);
  if (failure_.ok()) join_all();
}

void Membership::release_held() {
  renews_after_.reset();
  plan_requests_.stop();
  quiet_until_ = 0;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    if (active_[i].held && !active_[i].operation->ended()) begin(active_[i]);
  }
}

}  // namespace hps
