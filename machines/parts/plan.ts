import * as z from 'zod';
import { Duration, Limit } from '../../src/base/duration.ts';
import { instantOf } from '../../src/base/instant.ts';

/*
 * A plan as people write it and as a run pins it (`lifeboat.plan/1`). Durations are milliseconds after
 * parsing.
 */

const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/u;

const Name = z
  .string()
  .regex(NAME, 'a name has at most 40 small letters, digits and dashes: region-west')
  .describe('at most 40 small letters, digits and dashes');

const Words = z.string().trim().min(1, 'this is empty').max(2000);

/** A program and its arguments, started without a shell. */
const Argv = z
  .array(z.string(), 'a program and its arguments, as a list: [kubectl, scale, --replicas=0, deploy/orders]')
  .min(1, 'the program is missing')
  .describe('a program and its arguments, without a shell; no secret in it');

const SHARE = /^(100|[1-9]?\d)%$/u;

/** A share such as `10%`, as a number of percent from 1 to 100. */
const Share = z
  .string()
  .regex(SHARE, 'a share is a whole number of percent: "10%"')
  .transform((text) => Number(SHARE.exec(text)?.[1]))
  .refine((percent) => percent > 0, 'a share is more than 0%');

const COMPARISON = /^(?:>=|<=|=|>|<)\s*.+$/u;
const Comparison = z
  .string()
  .regex(COMPARISON, 'a comparison is a sign and a value: ">= 1000", "<= 1h"')
  .describe('a sign (>=, <=, =, >, <) and a value');

const Expect = z
  .strictObject({
    status: z
      .union([z.int().min(100).max(599), z.array(z.int().min(100).max(599)).min(1)])
      .optional()
      .describe('http: the status, or one of several; default: 200 to 299'),
    text: Words.optional().describe('http and command: a text that the answer contains'),
    exit: z.int().min(0).max(255).optional().describe('command: how it ends; default: 0'),
    rows: Comparison.optional().describe('sql and reconcile: the number of records'),
    age: Comparison.optional().describe(
      'sql and reconcile: how old the newest record is, such as "<= 1h" or "<= {rpo}"',
    ),
  })
  .describe('what has to be found');

const CHECKS = ['http', 'sql', 'reconcile', 'tcp', 'command'] as const;

const CheckFields = z.strictObject({
  http: Words.optional().describe('an address that is asked with GET'),
  sql: Words.optional().describe(
    'a query for psql, which finds the database by its own variables (PGSERVICE, PGHOST, …); the first number counts, and the first time',
  ),
  reconcile: z.literal(true).optional().describe('the `reconcile` command of the instance in lifeboat.yaml'),
  tcp: Words.optional().describe('HOST:PORT that takes a connection'),
  command: Argv.optional(),
  expect: Expect.optional(),
  within: Limit.optional().describe('asked again and again for this long, until it is found; default: once'),
});

export type Check = Readonly<z.output<typeof CheckFields>>;

export const Check = CheckFields.superRefine((check, { addIssue }) => {
  const asked = CHECKS.filter((key) => check[key] !== undefined);
  if (asked.length !== 1) addIssue(`a check asks one thing: ${CHECKS.join(', ')}`);
  const problem = check.http === undefined ? undefined : problemOfAddress(check.http);
  if (problem !== undefined) addIssue({ code: 'custom', path: ['http'], message: problem });
});

/** A password in the address of a check would be on every screen. */
function problemOfAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/u.test(url.protocol))
    return 'this is no address of the form https://HOST/PATH';
  if (url.username === '' && url.password === '') return undefined;
  return 'an address has no user or password: both would be on record';
}

const Approve = z.strictObject({
  quorum: z.int().min(1).max(20).default(1).describe('how many people have to approve'),
  of: z
    .array(z.string().min(1).max(100))
    .min(1)
    .optional()
    .describe('names of the allowed signers who may; default: all of them'),
  within: Duration.prefault('1h').describe('how long they have'),
  notBy: z
    .enum(['starter', 'nobody'])
    .default('starter')
    .describe('starter: not the person who started the plan'),
  onExpiry: z
    .enum(['pause', 'ask-again', 'stop'])
    .default('pause')
    .describe('what happens after that time; an expired approval never approves'),
  shows: z.array(Name).optional().describe('groups whose results the request shows'),
});
export type Approve = Readonly<z.output<typeof Approve>>;

const Manual = z.strictObject({
  do: Words.describe('what a person does'),
  owner: Words.optional().describe('who does it'),
  proof: Words.default('how do you know that it is done?').describe('what the person has to state'),
  due: Limit.optional().describe('how long it may take before the screen says that it is late'),
});

const CommandStep = z.strictObject({
  argv: Argv,
  kind: z
    .enum(['repeatable', 'once'])
    .describe('once: it must not happen twice, and `landed` says whether a lost one happened'),
  landed: Argv.optional().describe('ends with 0 if it has happened, with 1 if it has not'),
  timeout: Limit.prefault('10m').describe('how long it may take'),
});

const Notify = z.strictObject({
  to: Words.optional().describe('the name of a target below `notify` in lifeboat.yaml; default: all of them'),
  text: Words.describe('what it says'),
});

const ZONED = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/iu;

const With = z
  .strictObject({
    phase: z
      .enum(['prepare', 'perform', 'both'])
      .optional()
      .describe('disaster-recovery: which half; default: perform'),
    action: z.enum(['restart', 'recreate', 'update']).optional().describe('change-instance: what is done'),
    backup: z
      .enum(['newest', 'newest-proven'])
      .optional()
      .describe('restore-backup: which backup; default: newest-proven'),
    time: Words.refine(
      (text) => ZONED.test(text) && instantOf(text) !== undefined,
      'a time with its zone belongs here, in RFC 3339: 2026-03-01T02:59:00Z',
    )
      .optional()
      .describe('restore-point-in-time: RFC 3339, with a zone'),
  })
  .describe('what the runbook is told');
export type With = Readonly<z.output<typeof With>>;

/** A step has exactly one of these keys. */
const KINDS = ['runbook', 'check', 'manual', 'approve', 'command', 'notify', 'wait'] as const;

export const STEP_RUNBOOKS = [
  'rotate-key',
  'disaster-recovery',
  'restore-point-in-time',
  'restore-backup',
  'back-up-and-verify',
  'change-instance',
] as const;

const StepFields = z.strictObject({
  id: Name,
  about: Words.optional(),
  runbook: z.enum(STEP_RUNBOOKS).optional().describe('the runbook that is run on the instance'),
  with: With.optional(),
  check: Check.optional(),
  manual: Manual.optional(),
  approve: Approve.optional(),
  command: CommandStep.optional(),
  notify: Notify.optional(),
  wait: Duration.optional().describe('how long nothing happens'),
  when: z
    .enum(['source-up', 'source-down'])
    .optional()
    .describe('the step belongs only to a recovery with, or without, the source'),
  onFailure: z
    .enum(['pause', 'continue', 'stop'])
    .default('pause')
    .describe('pause: nothing new starts in the group until a person decides; stop: the group ends'),
  because: Words.optional().describe('why the plan may continue without this step'),
  retries: z
    .int()
    .min(1)
    .max(20)
    .optional()
    .describe('how often it is tried again; not for what is sent once'),
  timeout: Limit.optional().describe(
    'a check: how long it may take before it counts as failed; a runbook: before it holds up nothing more but its instance',
  ),
  undo: z
    .union([Words, z.strictObject({ manual: Manual })], 'undo is a sentence, or {manual: …}')
    .optional()
    .describe('how it is taken back; `none; WHY` if it cannot be'),
  rehearsal: z
    .strictObject({ skip: Words.describe('why') })
    .optional()
    .describe('left out of a rehearsal, for this reason'),
});
type StepFields = z.output<typeof StepFields>;

export type Step = Pick<
  StepFields,
  'id' | 'about' | 'when' | 'onFailure' | 'because' | 'timeout' | 'retries' | 'undo' | 'rehearsal'
> &
  (
    | { readonly kind: 'runbook'; readonly runbook: (typeof STEP_RUNBOOKS)[number]; readonly with: With }
    | { readonly kind: 'check'; readonly check: Check }
    | { readonly kind: 'manual'; readonly manual: z.output<typeof Manual> }
    | { readonly kind: 'approve'; readonly approve: Approve }
    | { readonly kind: 'command'; readonly command: z.output<typeof CommandStep> }
    | { readonly kind: 'notify'; readonly notify: z.output<typeof Notify> }
    | { readonly kind: 'wait'; readonly wait: number }
  );

const Step = StepFields.superRefine((step, context) => {
  const kinds = KINDS.filter((kind) => step[kind] !== undefined);
  if (kinds.length !== 1) {
    context.addIssue(`a step has one kind: ${KINDS.join(', ')}`);
    return;
  }
  const at = (key: keyof StepFields, message: string) =>
    context.addIssue({ code: 'custom', path: [key], message });
  if (step.with !== undefined && step.runbook === undefined) at('with', 'only a runbook takes `with`');
  if (step.onFailure === 'continue' && step.because === undefined)
    at('onFailure', 'say with `because` why the plan may continue without this step');
  if (step.retries !== undefined && (step.runbook !== undefined || step.command?.kind === 'once'))
    at('retries', 'what is sent once is never repeated blindly: after a lost answer, the service is asked');
  if (step.retries !== undefined && (step.manual ?? step.approve ?? step.wait) !== undefined)
    at('retries', 'only checks, repeatable commands and notifications are tried again');
  if (step.timeout !== undefined && step.runbook === undefined && step.check === undefined)
    at(
      'timeout',
      'runbooks and checks take a timeout; a command has its own, a manual step `due`, an approval `within`',
    );
  if (step.command?.kind === 'once' && step.command.landed === undefined)
    context.addIssue({
      code: 'custom',
      path: ['command', 'landed'],
      message: 'name the command that says whether a lost one has happened',
    });
}).transform((step): Step => {
  const { runbook, with: given, check, manual, approve, command, notify, wait, ...common } = step;
  if (runbook !== undefined) {
    // In a plan the source counts as lost; preparing a recovery has to be asked for.
    const usual = runbook === 'disaster-recovery' ? { phase: 'perform' as const } : {};
    return { ...common, kind: 'runbook', runbook, with: { ...usual, ...given } };
  }
  if (check !== undefined) return { ...common, kind: 'check', check };
  if (manual !== undefined) return { ...common, kind: 'manual', manual };
  if (approve !== undefined) return { ...common, kind: 'approve', approve };
  if (command !== undefined) return { ...common, kind: 'command', command };
  if (notify !== undefined) return { ...common, kind: 'notify', notify };
  return { ...common, kind: 'wait', wait: wait ?? 0 };
});

const Steps = z.array(Step).min(1, 'a group has at least one step').superRefine(assertDifferentIds);

const Selection = z
  .strictObject({
    tag: Words.optional().describe('instances with this tag in lifeboat.yaml'),
    role: z.enum(['source', 'target']).optional().describe('instances with this role; default: source'),
    name: Words.optional().describe('instances whose name fits, with * for any text: orders-*'),
    instances: z.array(z.string().min(1)).min(1).optional().describe('these instances, in this order'),
    target: Words.optional().describe('the target of each, with {name} for its name: "{name}-west"'),
  })
  .refine(
    ({ target: _, ...rest }) => Object.keys(rest).length > 0,
    'say which instances: tag, role, name or instances',
  );

export const HEALTHY = 'healthy';
export const FINALLY = 'finally';

const Group = z.strictObject({
  id: Name.refine((id) => id !== HEALTHY && id !== FINALLY, 'a phase of every plan has this name'),
  about: Words.optional(),
  after: z.array(Name).default([]).describe('groups that have to be done before this one begins'),
  for: Selection.optional().describe(
    'the instances that pass the steps; without it, the steps are done once',
  ),
  order: z
    .enum(['by-instance', 'by-step'])
    .default('by-instance')
    .describe('by-step: a step begins when all instances of the wave have passed the one before'),
  waves: z
    .array(
      z.union(
        [z.int().min(1), Share.transform((percent) => ({ percent }))],
        'a wave is a number of instances, or a share such as "50%"',
      ),
    )
    .min(1)
    .default([{ percent: 100 }])
    .describe('how many instances begin together: the last size repeats; a share is rounded up'),
  settle: Duration.prefault('0s').describe('how long the next wave waits after the one before'),
  promote: z.literal('approve').optional().describe('approve: a person lets the next wave begin'),
  maxConcurrency: z.int().min(1).max(1000).default(10).describe('how many instances are worked on at once'),
  stopWhen: z
    .union(
      [z.strictObject({ failed: z.int().min(1) }), z.strictObject({ failedShare: Share })],
      'stopWhen is {failed: 2} or {failedShare: "10%"}',
    )
    .optional()
    .describe('as soon as this many instances have failed, no new step starts; a share is rounded up'),
  steps: Steps,
});
export type Group = Readonly<z.output<typeof Group>>;

const Finally = z.strictObject({
  timeout: Limit.prefault('30m').describe('how long all of it may take'),
  steps: Steps,
});

/** A plan: `plans/NAME.yaml`. */
export const PlanFile = z
  .strictObject({
    plan: Name.describe('its name'),
    about: Words.optional(),
    activation: Words.optional().describe('when it is put into force, and who decides that; for the report'),
    deactivation: Words.optional().describe(
      'when normal operation is back, and who decides that; for the report',
    ),
    contacts: z
      .array(z.strictObject({ name: Words, role: Words.optional(), reach: Words.optional() }))
      .default([])
      .describe('who is told, and how; for the report'),
    objectives: z
      .strictObject({ rto: Duration.optional(), rpo: Duration.optional() })
      .default({})
      .describe('how long the recovery may take, and how much data may be lost'),
    evaluate: z.strictObject({ every: Duration }).optional().describe('how often it is evaluated'),
    drill: z
      .strictObject({
        every: Duration,
        into: Words.optional().describe(
          'the targets of a rehearsal, which are scratch: "{name}-scratch", or the next that fits "scratch-*"',
        ),
      })
      .optional()
      .describe('how often it is rehearsed'),
    approve: Approve.optional().describe('who lets it start'),
    groups: z.array(Group).min(1, 'a plan has at least one group'),
    healthy: z.array(Check).default([]).describe('the recovery time ends with the last of these checks'),
    finally: Finally.optional().describe('steps at the end, also after a stop: cleaning up, telling people'),
  })
  .superRefine(({ groups }, context) => {
    assertDifferentIds(groups, { ...context, addIssue: (issue) => context.addIssue(below('groups', issue)) });
    for (const [at, { after }] of groups.entries())
      for (const [index, name] of after.entries()) {
        const problem = problemOfAfter(groups, at, name);
        if (problem !== undefined)
          context.addIssue({ code: 'custom', path: ['groups', at, 'after', index], message: problem });
      }
  });
export type Plan = Readonly<z.output<typeof PlanFile>>;

type Issue = Parameters<z.RefinementCtx['addIssue']>[0];

function below(key: string, issue: Issue): Issue {
  return typeof issue === 'string' ? issue : { ...issue, path: [key, ...(issue.path ?? [])] };
}

function assertDifferentIds(
  all: readonly { readonly id: string }[],
  { addIssue }: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  const seen = new Set<string>();
  for (const [at, { id }] of all.entries()) {
    if (seen.has(id))
      addIssue({ code: 'custom', path: [at, 'id'], message: `there are two with the id ${id}` });
    seen.add(id);
  }
}

/** Only earlier groups count, so there is no circle. */
function problemOfAfter(
  groups: readonly { readonly id: string }[],
  at: number,
  name: string,
): string | undefined {
  const other = groups.findIndex(({ id }) => id === name);
  if (other < 0) return `there is no group ${name}`;
  if (other === at) return 'a group cannot wait for itself';
  return other < at ? undefined : `the group ${name} has to be written above this one`;
}

/** A group without instances has one lane, `-`. */
export interface Lane {
  readonly name: string;
  /** The instance that it is recovered into. */
  readonly target?: string | undefined;
}

export const NO_INSTANCE = '-';

export interface ResolvedGroup extends Group {
  readonly lanes: readonly Lane[];
  /** Undefined if failed lanes do not stop it. */
  readonly stopAt: number | undefined;
  readonly sizes: readonly number[];
  /** Milliseconds for all of it; only the last steps of a plan have this limit. */
  readonly timeout?: number | undefined;
}

/** The plan, and its instances as they were when the run began. */
export interface PlanInput {
  readonly plan: Omit<Plan, 'groups'>;
  readonly groups: readonly ResolvedGroup[];
  /** The file as it was read, and its hash. */
  readonly text: string;
  readonly sha256: string;
  readonly rehearsal: boolean;
  readonly source: 'up' | 'down';
  /** RFC 3339. */
  readonly incidentAt?: string | undefined;
}
