import type { Entry } from '../../store/journal.ts';
import type { ApprovalPolicy, Who } from '../../store/run-entry-parts.ts';
import { policyFacts } from '../../store/sentence-parts.ts';
import { findAll } from './found.ts';
import type { MayApprove } from './model-rows.ts';

/**
 * Who could approve a run, as of its beginning, and what has changed since: config, files, and who has driven
 * it.
 */
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

/** A file of allowed signers that was another one at a signature than when that process had begun. */
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
