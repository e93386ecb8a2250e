import { msOf } from '../../base/instant.ts';
import type { Entry } from '../../store/journal.ts';
import type { ApprovalPolicy, Who } from '../../store/run-entries.ts';
import { policyFacts } from '../../store/sentence.ts';
import type { Report } from './model.ts';
import { type Approval, findAll, type MayApprove, type Person } from './model-rows.ts';

/** The people involved in the run, as far as the journal knows, with the evidence for each. */
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

export function approvalsOf(entries: readonly Entry[]): Approval[] {
  const asked = findAll(entries, 'approval.asked').map(({ entry, body }): Approval => {
    return { ...body, askedAt: entry.at, ...challengeOutcome(entries, body.challenge) };
  });
  const known = new Set(asked.map(({ challenge }) => challenge));
  // A bypass is in the record even if the bypassed request is unreadable.
  const bare = findAll(entries, 'approval.bypassed')
    .filter(({ body }) => !known.has(body.challenge))
    .map(({ entry, body: { challenge, order } }): Approval => {
      const unread = { target: '', plan: '', requester: entry.by, expiresAt: '' };
      return { challenge, order, ...unread, ...challengeOutcome(entries, challenge) };
    });
  return [...asked, ...bare];
}

/** The outcome of a challenge: its last entry counts, but nothing later hides a bypass. */
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

/** An unsigned request is valid only while it is the newest, and until it expires. */
function unanswered(entries: readonly Entry[], challenge: string): 'asked' | 'replaced' | 'expired' {
  const newest = findAll(entries, 'approval.asked').at(-1);
  const { expiresAt } =
    findAll(entries, 'approval.asked').find(({ body }) => body.challenge === challenge)?.body ?? {};
  const last = entries.at(-1)?.at ?? '';
  if (expiresAt !== undefined && msOf(expiresAt) <= msOf(last)) return 'expired';
  return newest?.body.challenge === challenge ? 'asked' : 'replaced';
}

/** The plans for which approval was requested, each with its best outcome. */
export function plansAsked(approvals: readonly Approval[]): Report['plan']['asked'] {
  const plans = approvals.filter(({ plan }) => plan !== '');
  return [...new Set(plans.map(({ plan }) => plan))].map((sha256) => {
    const states = plans.filter(({ plan }) => plan === sha256).map(({ state }) => state);
    const state = states.find((one) => one === 'given') ?? states.at(-1) ?? 'asked';
    return { sha256, state };
  });
}

/** Who could approve a run at its beginning, and what has changed since: config, files, and its drivers. */
export function mayApproveOf(entries: readonly Entry[]): MayApprove {
  const driven = [...findAll(entries, 'run.started'), ...findAll(entries, 'run.resumed')];
  const policies = driven.flatMap(({ entry, body: { approvals } }) =>
    approvals === undefined ? [] : [{ entry, approvals }],
  );
  const people = driven.flatMap(({ entry, body: { who } }) => (who === undefined ? [] : [{ entry, who }]));
  const [first] = policies;
  return {
    begun:
      first === undefined ? [] : policyFacts(first.approvals).map(([label, value]) => ({ label, value })),
    asOf: first?.entry.at,
    people: first?.approvals.signers?.people ?? [],
    drivers: people.map(({ entry, who }) => ({ at: entry.at, ...driver(who) })),
    changes: [
      ...policies
        .slice(1)
        .flatMap(({ entry: { at, by }, approvals }, index) =>
          differences(policies[index]?.approvals, approvals).map((change) => ({ at, by, ...change })),
        ),
      ...otherFiles(entries, policies),
    ],
  };
}

function driver({ name, email, login, uid, host, config }: Who) {
  const called = email === undefined ? name : `${name} <${email}>`;
  return { name: called, login, uid: uid === undefined ? '' : String(uid), host, config };
}

function differences(before: ApprovalPolicy | undefined, after: ApprovalPolicy) {
  const [was, is] = [before, after].map((one) => new Map(one === undefined ? [] : policyFacts(one)));
  const labels = [...new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])];
  return labels.flatMap((what) => {
    const [old, fresh] = [was?.get(what) ?? 'none', is?.get(what) ?? 'none'];
    return old === fresh ? [] : [{ what, was: old, is: fresh }];
  });
}

/** Files of allowed signers that differed, at a signature, from the one at the process's beginning. */
function otherFiles(
  entries: readonly Entry[],
  policies: readonly { readonly entry: Entry; readonly approvals: ApprovalPolicy }[],
): MayApprove['changes'] {
  return findAll(entries, 'approval.given').flatMap(
    ({ entry: { at, by, seq }, body: { allowedSigners } }) => {
      const known = policies.findLast(({ entry }) => entry.seq < seq)?.approvals.signers?.sha256;
      if (known === undefined || known === allowedSigners) return [];
      const [was, is] = [known, allowedSigners].map((sha256) => `SHA-256 ${sha256}`);
      return [{ at, by, what: 'allowed signers, at a signature', was: was ?? '', is: is ?? '' }];
    },
  );
}
