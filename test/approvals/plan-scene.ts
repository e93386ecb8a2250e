import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { TestContext } from 'vitest';
import { planStep } from '../../machines/index.ts';
import { type Approve, PlanFile, type PlanInput, type Step } from '../../machines/parts/plan.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { planRunbook } from '../../machines/plan-runbook.ts';
import { lineHash } from '../../src/approvals/allowed-signers.ts';
import { approvalPaths } from '../../src/approvals/approval-files.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { planSubject } from '../../src/base/plan-subject.ts';
import { Secret } from '../../src/base/secret.ts';
import type { CommandContext } from '../../src/cli/context.ts';
import { gateOfRun } from '../../src/commands/approvals/gate-of-run.ts';
import type { Workspace } from '../../src/compose/workspace.ts';
import type { LoadedConfig } from '../../src/config/loaded.ts';
import type { Run, RunState } from '../../src/runner/run.ts';
import { startRun } from '../../src/runner/runs.ts';
import { takeUp } from '../../src/runner/take-up.ts';
import type { Entry, Journal, Json } from '../../src/store/journal.ts';
import type { Signer } from '../../src/store/log/signer.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import type { RunEntryBody } from '../../src/store/run-entries.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { freshSigner } from '../store/fresh-signer.ts';
import { type Person, somePeople } from './people.ts';

const START = Date.parse('2026-11-21T03:00:00.000Z');
export const WITHIN_MS = 30 * 60_000;

/** What is approved: the start of a plan, or one of its steps. */
export type Kind = 'plan' | 'step';

/**
 * A run that waits for two of Bob, Carol and Sam. Sam started the plan, Olga drives the run, and Dave may
 * approve other things.
 */
export interface PlanScene {
  readonly runId: string;
  /** The name to type. */
  readonly name: string;
  readonly people: Readonly<Record<'bob' | 'carol' | 'dave' | 'sam' | 'olga', Person>>;
  /** The file of allowed signers. */
  readonly signers: string;
  /** The clock of the journal: seconds since the start. */
  readonly clock: { seconds: number };
  /** The run, in the process that drives it now. */
  readonly run: () => Run;
  /** Leaves the run, and takes it up as another process would. */
  lookAgain(): Promise<void>;
  entries(): Promise<readonly Entry[]>;
  /** The newest request. */
  asked(): Promise<RunEntryBody<'approval.asked'>>;
  /** Puts a signature where the run looks for it. */
  lay(signature: string): Promise<void>;
  /** Signs the newest request and types the name; the reason if that does not count. */
  sign(by: Person): Promise<LifeboatError | undefined>;
  type(name?: string): Promise<LifeboatError | undefined>;
  withdraw(reason: string): Promise<void>;
}

/** Where a scene is: on a machine of its own, unless a test says otherwise. */
interface Place {
  readonly home: string;
  readonly signer: Signer;
  /** The file of allowed signers that the config names. */
  readonly signers: string;
  readonly startMs: number;
}

/** Makes the scene, up to the request for the first approval. */
export async function somePlan(
  context: Pick<TestContext, 'onTestFinished'>,
  kind: Kind,
  terms: Partial<Approve> = {},
  place?: Place,
  listedAtStart?: (people: PlanScene['people']) => readonly Person[],
): Promise<PlanScene> {
  const made = somePeople(context);
  const person = (name: string) => made.person(`${name}@acme.com`);
  const [bob, carol, dave, sam, olga] = ['bob', 'carol', 'dave', 'sam', 'olga'].map(person) as [
    ...[Person, Person, Person, Person, Person],
  ];
  const allowed = [bob, carol, dave, sam, olga].map((one) => one.line()).join('');
  const signers = place?.signers ?? made.file('approvers', '');
  writeFileSync(signers, allowed);
  const clock = { seconds: 0 };
  const now = () => new Date((place?.startMs ?? START) + clock.seconds * 1000);
  const home = place?.home ?? made.folder;
  const journal = await openSqliteStore({
    home,
    by: 'robot',
    signer: place?.signer ?? freshSigner(),
    projections: PROJECTIONS,
    now,
  });
  context.onTestFinished(() => journal.close());
  const approve: Approve = {
    ...{ quorum: 2, of: [bob.name, carol.name, sam.name, olga.name], within: WITHIN_MS },
    ...{ notBy: 'starter', onExpiry: 'pause', ...terms },
  };
  const began = { mode: 'LIVE', tool: { name: 'lifeboat', version: '0', node: 'v24' } } as const;
  const input = planInput(kind === 'plan' ? approve : undefined);
  const plan = await startRun(journal, {
    ...{ runbook: planRunbook, instance: planSubject('west'), input: input as unknown as Json },
    ...{ ...began, operator: sam.name, ...(listedAtStart === undefined ? {} : { asked: listed() }) },
  });
  const step: Step = { id: 'go', kind: 'approve', onFailure: 'pause', approve };
  const run =
    kind === 'plan'
      ? { runId: plan, runbook: planRunbook, instance: planSubject('west') }
      : { runId: await startStep(), runbook: planStep as Runbook, instance: '-' };
  if (kind === 'plan') await evaluated(journal, plan);

  /** What the record of the plan says of the file of allowed signers. */
  function listed() {
    const of = listedAtStart?.({ bob, carol, dave, sam, olga }) ?? [];
    const lines = of.map((one) => lineHash(one.line().trim()));
    const who = { name: sam.name, login: 'sam', host: 'h', config: '' };
    return { who, approvals: { required: {}, signers: { sha256: '', lines, people: [] } } };
  }

  function startStep() {
    return startRun(journal, {
      ...{ runbook: planStep, instance: '-', input: { instance: '-', step } as unknown as Json },
      ...{ ...began, operator: 'robot' },
      plan: { run: plan, group: 'traffic', step: 'go', lane: '-', attempt: 1 },
    });
  }

  const { privateKey } = generateKeyPairSync('ed25519');
  const signingKey = new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const config = {
    ...{ instances: {}, operator: { name: 'olga', email: olga.name } },
    approvals: { allowedSigners: signers, expires: 24 * 3_600_000, required: 'none' },
  } as unknown as LoadedConfig;
  const workspace = { home, journal, operator: 'olga', keyring: { signingKey: async () => signingKey } };
  const take = async (): Promise<Run> => {
    const gate = await gateOfRun(
      { stdin: {}, stderr: { write: () => true } } as unknown as CommandContext,
      config,
      workspace as unknown as Workspace,
      { ...run, runbook: run.runbook.id, version: run.runbook.version },
      run.runbook,
      undefined,
    );
    return takeUp({
      ...{ ...run, journal, gate, now, activities: {}, leaveWhenPaused: true },
      take: async () => ({ fingerprint: 'bbbbbbbbbbbb', length: 9 }),
      seal: async () => undefined,
    });
  };
  const entries = () => journal.read(`run/${run.runId}`);
  const asked = async () =>
    (await entries()).findLast(({ type }) => type === 'approval.asked')?.body as unknown as Awaited<
      ReturnType<PlanScene['asked']>
    >;
  const scene: PlanScene = {
    ...{ runId: run.runId, name: kind === 'plan' ? 'west' : 'go', signers, clock },
    people: { bob, carol, dave, sam, olga },
    run: () => taken,
    lookAgain: async () => {
      await taken.detach();
      taken = await take();
      // An answer comes after what was due.
      await taken.answer({ event: 'nothing' }).catch(() => undefined);
    },
    entries,
    asked,
    lay: async (signature) =>
      writeFileSync(approvalPaths(home, run.runId, (await asked()).challenge).signature, signature),
    sign: async (by) => {
      await scene.lay(by.sign((await asked()).text));
      return scene.type();
    },
    type: (name = scene.name) =>
      taken.answer({ event: 'operator.confirm', typed: name }).then(
        () => undefined,
        (thrown: unknown) => {
          if (thrown instanceof LifeboatError) return thrown;
          throw thrown;
        },
      ),
    withdraw: async (reason) =>
      writeFileSync(approvalPaths(home, run.runId, (await asked()).challenge).withdrawn, `${reason}\n`),
  };
  let taken = await take();
  context.onTestFinished(() => taken.detach());
  await until(taken, ({ entries: seen }) => seen.some(({ type }) => type === 'approval.asked'));
  return scene;
}

/** Resolves when the run is as the test waits for. */
export function until(run: Run, holds: (state: RunState) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (!holds(run.state())) return;
      stop();
      resolve();
    };
    const stop = run.subscribe(look);
    run.ended.then(look, reject);
    look();
  });
}

/** A plan that recovers two instances and then switches traffic. */
function planInput(approve: Approve | undefined): PlanInput {
  const { groups, ...plan } = PlanFile.parse({
    plan: 'west',
    groups: [
      {
        id: 'data',
        for: { instances: ['orders', 'payroll'], target: '{name}-west' },
        steps: [{ id: 'recover', runbook: 'disaster-recovery' }],
      },
      { id: 'traffic', after: ['data'], steps: [{ id: 'dns', manual: { do: 'point it west' } }] },
    ],
  });
  const [data, traffic] = groups as [(typeof groups)[number], (typeof groups)[number]];
  const lanes = ['orders', 'payroll'].map((name) => ({ name, target: `${name}-west` }));
  return {
    plan: { ...plan, approve },
    groups: [
      { ...data, lanes, stopAt: undefined, sizes: [2] },
      { ...traffic, lanes: [{ name: '-' }], stopAt: undefined, sizes: [1] },
    ],
    ...{ text: 'plan: west', sha256: 'ab'.repeat(32), rehearsal: false, source: 'down' },
  };
}

async function evaluated(journal: Journal, run: string): Promise<void> {
  const hold = await journal.hold(`run/${run}`);
  const body = { event: { type: 'plan.evaluated', lanes: [] }, to: 'approve.asked' };
  await journal.append([{ stream: `run/${run}`, type: 'event', body }], [hold]);
  await hold.release();
}
