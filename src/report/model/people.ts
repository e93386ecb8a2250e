import type { Entry } from '../../store/journal.ts';
import { findAll } from './found.ts';
import type { Report } from './model.ts';
import type { Approval, Person } from './model-rows.ts';

/** Who had a part in the run, as far as the journal knows, and what shows that it was them. */
export function peopleOf(entries: readonly Entry[], owners: readonly string[]): Person[] {
  const people = new Map<string, Person>();
  const operator = findAll(entries, 'run.started')[0]?.body.operator;
  const add = (name: string, role: string, proof: string) => {
    const known = people.get(name);
    if (known === undefined) people.set(name, { name, roles: [role], proof });
    else if (!known.roles.includes(role)) known.roles.push(role);
  };
  if (operator !== undefined) add(operator, 'operator', NAMED);
  for (const { by } of entries) add(by, 'acted', WRITTEN);
  for (const { body } of findAll(entries, 'approval.given')) {
    add(body.approver, 'approver', `signature by the key ${body.key}, verified against the allowed signers`);
  }
  for (const owner of owners) add(owner, 'owner of follow-ups', NAMED);
  return [...people.values()];
}

const NAMED = 'named in the config or by the run';
const WRITTEN = "named in the machine's config, else by its login; the identity of the person is not proven";

/** What was asked of a second person. */
export function approvalsOf(entries: readonly Entry[]): Approval[] {
  const asked = findAll(entries, 'approval.asked').map(({ entry, body }): Approval => {
    const { challenge, order, target, plan, requester, expiresAt } = body;
    return {
      challenge,
      order,
      target,
      plan,
      requester,
      expiresAt,
      askedAt: entry.at,
      ...challengeOutcome(entries, challenge),
    };
  });
  const known = new Set(asked.map(({ challenge }) => challenge));
  // A bypass stands in the record even where what it bypassed cannot be read.
  const bare = findAll(entries, 'approval.bypassed')
    .filter(({ body }) => !known.has(body.challenge))
    .map(({ entry, body: { challenge, order } }): Approval => {
      const unread = { target: '', plan: '', requester: entry.by, expiresAt: '' };
      return { challenge, order, ...unread, ...challengeOutcome(entries, challenge) };
    });
  return [...asked, ...bare];
}

/** What became of a challenge: its last word counts, but a bypass is never hidden by anything after it. */
export function challengeOutcome(
  entries: readonly Entry[],
  challenge: string,
): Pick<Approval, 'state' | 'approver' | 'at' | 'method' | 'key' | 'allowedSigners' | 'reason'> {
  const same = ({ body }: { readonly body: { readonly challenge: string } }) => body.challenge === challenge;
  const bypassed = findAll(entries, 'approval.bypassed').find(same);
  if (bypassed !== undefined) {
    const { entry, body } = bypassed;
    return { state: 'bypassed', at: entry.at, approver: entry.by, reason: body.reason };
  }
  const given = findAll(entries, 'approval.given').findLast(same);
  const withdrawn = findAll(entries, 'approval.withdrawn').findLast(same);
  if (withdrawn !== undefined && (given === undefined || withdrawn.entry.seq > given.entry.seq)) {
    const { entry, body } = withdrawn;
    return { state: 'withdrawn', at: entry.at, approver: body.approver, reason: body.reason };
  }
  if (given === undefined) return { state: unanswered(entries, challenge) };
  const { approver, method, key, allowedSigners } = given.body;
  return { state: 'given', at: given.entry.at, approver, method, key, allowedSigners };
}

/** A request that nobody has signed holds only as long as it is the newest, and until its time is over. */
function unanswered(entries: readonly Entry[], challenge: string): 'asked' | 'replaced' | 'expired' {
  const newest = findAll(entries, 'approval.asked').at(-1);
  const { expiresAt } =
    findAll(entries, 'approval.asked').find(({ body }) => body.challenge === challenge)?.body ?? {};
  const last = entries.at(-1)?.at ?? '';
  if (expiresAt !== undefined && Date.parse(expiresAt) <= Date.parse(last)) return 'expired';
  return newest?.body.challenge === challenge ? 'asked' : 'replaced';
}

/** The plans that approvals were asked for, each with the best that became of it. */
export function plansAsked(approvals: readonly Approval[]): Report['plan']['asked'] {
  const plans = approvals.filter(({ plan }) => plan !== '');
  return [...new Set(plans.map(({ plan }) => plan))].map((sha256) => {
    const states = plans.filter(({ plan }) => plan === sha256).map(({ state }) => state);
    const state = states.find((one) => one === 'given') ?? states.at(-1) ?? 'asked';
    return { sha256, state };
  });
}
