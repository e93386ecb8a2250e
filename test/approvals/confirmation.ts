import { writeFileSync } from 'node:fs';
import type { TestContext } from 'vitest';
import { approvalPaths } from '../../src/approvals/approval-files.ts';
import type { Plan } from '../../src/approvals/challenge.ts';
import { type ApprovalGate, type ApprovalGateDeps, approvalGate } from '../../src/approvals/gate.ts';
import type { RunState } from '../../src/runner/run.ts';
import type { Entry, Json } from '../../src/store/journal.ts';
import type { RunEntryBody } from '../../src/store/run-entries.ts';
import { type Person, somePeople } from './people.ts';

const START = Date.parse('2026-11-21T03:00:00.000Z');
export const EXPIRES_MS = 60 * 60_000;

export const PLAN: Plan = {
  run: 'R2',
  runbook: 'restore-backup',
  version: '1',
  mode: 'LIVE',
  state: 'confirming',
  prompt: 'type its name to restore backup 2 into orders',
  order: 'restore backup 2 into orders',
  instance: 'orders',
  target: 'orders',
  url: 'https://example.com/orders',
  event: 'operator.confirm',
  facts: ['backup: 2'],
  overrides: [],
  calls: ['POST /restore on orders: backup 2'],
};

export type Asked = RunEntryBody<'approval.asked'>;

/** A run of Alice at a confirmation, with a clock and a plan that a test can change; Bob may approve. */
export interface Confirmation {
  readonly gate: ApprovalGate;
  readonly bob: Person;
  readonly alice: Person;
  readonly entries: Entry[];
  plan: Plan;
  /** Seconds since the start, by the clock of the machine. */
  seconds: number;
  /** The file of allowed signers. */
  readonly signers: string;
  readonly revoked: string;
  state(): RunState;
  append(type: string, body: unknown): void;
  /** The run reaches its confirmation by an event. */
  arrive(): void;
  /** Gives the typed name, and writes the gate's notes. */
  confirm(breakGlass?: string): Promise<{ readonly code: string | undefined; readonly wrote: string[] }>;
  asked(): Asked;
  /** Puts a signature where the run looks for it. */
  lay(signature: string, challenge?: string): void;
}

export function someConfirmation(
  context: Pick<TestContext, 'onTestFinished'>,
  { run = 'R2', ...more }: Partial<ApprovalGateDeps> & { readonly run?: string } = {},
): Confirmation {
  const people = somePeople(context);
  const [alice, bob] = [people.person('alice@acme.com'), people.person('bob@acme.com')];
  const operator = { name: 'alice', email: 'alice@acme.com' };
  const signers = people.file('approvers', bob.line());
  const revoked = people.file('revoked', '');
  const entries: Entry[] = [];
  const now = () => new Date(START + made.seconds * 1000);
  const append = (type: string, body: unknown) => {
    const seq = entries.length + 1;
    const at = now().toISOString();
    entries.push({
      stream: `run/${run}`,
      seq,
      at,
      by: 'alice',
      type,
      body: body as Json,
      index: seq - 1,
      hash: '',
    });
  };
  const gate = approvalGate({
    home: people.folder,
    operator,
    now,
    rules: async () => ({ signers: { allowedSigners: signers, revoked }, operator, ownKey: '', now }),
    expiresMs: EXPIRES_MS,
    planOf: () => made.plan,
    riskOf: () => 'overwrites',
    needs: () => true,
    ...more,
  });
  const asked = () => entries.findLast(({ type }) => type === 'approval.asked')?.body as unknown as Asked;
  const made: Confirmation = {
    gate,
    bob,
    alice,
    entries,
    plan: { ...PLAN, run },
    seconds: 0,
    signers,
    revoked,
    state: () => ({ runId: run, instance: 'orders', entries: [...entries] }) as unknown as RunState,
    append,
    arrive: () => {
      const notes = gate.arrived(made.state());
      append('event', { event: { type: 'xstate.done.actor.look' }, to: made.plan.state });
      for (const { type, body } of notes) append(type, body);
    },
    confirm: async (breakGlass) => {
      const answer = { event: made.plan.event, typed: 'orders', ...(breakGlass && { breakGlass }) };
      const { notes, refusal } = await gate.check(made.state(), answer);
      for (const { type, body } of notes) append(type, body);
      return { code: refusal?.code, wrote: notes.map(({ type }) => type) };
    },
    asked,
    lay: (signature, challenge = asked().challenge) =>
      writeFileSync(approvalPaths(people.folder, run, challenge).signature, signature),
  };
  append('run.started', { runbook: PLAN.runbook });
  append('event', { event: { type: 'operator.begin' }, to: 'looking' });
  made.arrive();
  return made;
}
