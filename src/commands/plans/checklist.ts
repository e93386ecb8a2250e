import { NO_INSTANCE, type PlanInput, type Step } from '../../../machines/parts/plan.ts';
import type { RecoveryCard } from '../../../machines/parts/recovery-data.ts';
import { counted, formatSeconds } from '../../base/format.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import { show } from '../../base/text.ts';
import type { RestGroup, RestLane, RestStep } from '../../plans/rest.ts';
import {
  type Block,
  type Document,
  type Inline,
  paragraph,
  type Text,
  tableOf,
  time,
} from '../../report/render/document.ts';
import { stepInWords } from './step-words.ts';

interface Head {
  readonly runId: string;
  readonly input: PlanInput;
  readonly writtenAt: Date;
  /** The file of the script for a step on an instance; undefined without one. */
  readonly scriptOf: (group: string, lane: string, step: string) => string | undefined;
  /** The recovery card of an instance, as the ledger has it. */
  readonly cardOf: (instance: string) => RecoveryCard | undefined;
}

/**
 * The rest of a plan as a checklist for people who have no Lifeboat: groups in order, with waves, waits,
 * manual steps, approvals, checks, commands, and how each is taken back. Pure.
 */
export function checklistOf(rest: readonly RestGroup[], head: Head): Document {
  const { runId, input, writtenAt } = head;
  const { plan } = input;
  const left = rest.filter(isLeft);
  return {
    title: `What is left of plan ${plan.plan}`,
    mark: `${input.rehearsal ? 'REHEARSAL' : 'LIVE'}, run ${runId}`,
    lead: [
      paragraph('Use it when Lifeboat, its machine or its journal is gone. As long as it can go on, let it:'),
      { kind: 'list', items: [commandOf(['lifeboat', 'resume', runId])] },
      paragraph('Never use both at once: a call could be made twice.'),
      {
        kind: 'facts',
        caption: 'The plan',
        rows: [
          ['SHA-256 of its text', { code: input.sha256 }],
          ...(plan.about === undefined ? [] : [['Purpose', plan.about] as [string, Text]]),
          ...(plan.deactivation === undefined ? [] : [['Deactivation', plan.deactivation] as [string, Text]]),
        ],
      },
      ...tableOf(
        'Contacts',
        ['Name', 'Role', 'Reached by'],
        plan.contacts.map(({ name, role, reach }) => [name, role ?? '', reach ?? '']),
      ),
      ...(left.length === 0 ? [paragraph('Nothing is left to be done.')] : []),
    ],
    sections: left.map((group) => ({ title: titleOf(group), blocks: groupBlocks(group, head) })),
    foot: `Written ${writtenAt.toISOString()} from the journal of the run. Write down what was done, when and by whom.`,
  };
}

function isLeft({ lanes }: RestGroup): boolean {
  return lanes.some(({ steps }) => steps.length > 0);
}

function titleOf({ phase, group, ended }: RestGroup): string {
  const words = { groups: `Group ${group.id}`, healthy: 'Checks of health', finally: 'At the end' }[phase];
  return ended === undefined || ended === 'done'
    ? words
    : `${words} (it was ${ended === 'stopped' ? 'stopped' : 'not run'})`;
}

function groupBlocks(rest: RestGroup, head: Head): Block[] {
  const { group, lanes, held } = rest;
  const open = lanes.filter(({ steps, out }) => steps.length > 0 && out === undefined);
  const done = lanes.filter(({ steps, lane }) => steps.length === 0 && lane.name !== NO_INSTANCE);
  const out = lanes.filter((lane) => lane.out !== undefined && lane.steps.length > 0);
  const waves = [...Map.groupBy(open, ({ wave }) => wave)];
  const hasWaves = group.sizes.length > 1;
  return [
    ...rules(rest),
    ...(held === undefined ? [] : [paragraph(`It waits for a person: ${held}.`)]),
    ...(done.length === 0 ? [] : [paragraph(`Done: ${done.map(({ lane }) => nameOf(lane)).join(', ')}.`)]),
    ...(out.length === 0
      ? []
      : [paragraph(`Taken out: ${out.map((one) => `${nameOf(one.lane)} (${one.out})`).join(', ')}.`)]),
    ...tableOf(
      'Recovery cards',
      ['Instance', 'GUID of its backups', 'Key', 'Newest backup', 'Made'],
      cardRows(open, head),
    ),
    ...waves.flatMap(([wave, some]): Block[] => [
      ...(hasWaves ? [paragraph({ strong: `Wave ${wave} of ${group.sizes.length}` })] : []),
      { kind: 'tasks', items: tasksOf(rest, some, head) },
      ...(hasWaves && wave < group.sizes.length ? [{ kind: 'tasks' as const, items: between(rest) }] : []),
    ]),
  ];
}

/** What a recovery into another instance needs, which the script asks for. */
function cardRows(lanes: readonly RestLane[], { cardOf }: Head): Text[][] {
  return lanes.flatMap(({ lane, steps }): Text[][] => {
    const isRecovered = steps.some(
      ({ step }) => step.kind === 'runbook' && step.runbook === 'disaster-recovery',
    );
    const card = isRecovered ? cardOf(lane.name) : undefined;
    if (!isRecovered) return [];
    if (card === undefined) return [[lane.name, { bad: 'no card on record' }, '', '', '']];
    const { backupGuid, fingerprint, newest, preparedAt } = card;
    return [
      [
        lane.name,
        { code: backupGuid },
        fingerprint === undefined ? 'unknown' : { code: fingerprint },
        newest === undefined ? 'unknown' : String(newest.id),
        time(preparedAt),
      ],
    ];
  });
}

function rules({ group }: RestGroup): Block[] {
  const { after, order, maxConcurrency, stopAt, lanes, about } = group;
  const items = [
    ...(about === undefined ? [] : [about]),
    ...(after.length === 0 ? [] : [`Begin when these groups are done: ${after.join(', ')}.`]),
    ...(lanes.length > 1 ? [`At most ${counted(maxConcurrency, 'instance')} at once.`] : []),
    ...(stopAt === undefined
      ? []
      : [`When ${counted(stopAt, 'instance')} failed, begin nothing new, and decide.`]),
    ...(order === 'by-step'
      ? ['Begin a step when all instances of the wave have passed the one before.']
      : []),
  ];
  return items.length === 0 ? [] : [{ kind: 'list', items }];
}

/** What comes between two waves. */
function between({ group }: RestGroup): Text[] {
  return [
    'Every instance of this wave has ended well, or you have decided to go on without it.',
    ...(group.settle === 0 ? [] : [`Wait ${formatSeconds(group.settle / 1000)}.`]),
    ...(group.promote === 'approve' ? ['A second person lets the next wave begin: who, when?'] : []),
  ];
}

function tasksOf({ group }: RestGroup, lanes: readonly RestLane[], head: Head): Text[] {
  return lanes.flatMap(({ lane, steps }) => {
    const on = lane.name === NO_INSTANCE ? '' : `${nameOf(lane)}: `;
    return steps.map(
      (left): Text => [
        { strong: `${on}${left.step.id}` },
        ': ',
        ...workOf(left, head.scriptOf(group.id, lane.name, left.step.id)),
        ...stateWords(left),
        ...undoWords(left.step),
      ],
    );
  });
}

function nameOf({ name, target }: RestLane['lane']): string {
  return target === undefined ? name : `${name} -> ${target}`;
}

/** An open or failed run may have done a part of it. */
function stateWords({ openRun, hasFailed, step }: RestStep): Inline[] {
  if (openRun !== undefined)
    return [' It was begun, as run ', { code: openRun }, ': look first what it has done.'];
  if (!hasFailed) return [];
  return step.onFailure === 'continue'
    ? [
        ` It has failed, and the plan went on without it (${step.because ?? 'no reason given'}): find out why.`,
      ]
    : [' It has failed before: find out why.'];
}

function undoWords({ undo }: Step): Inline[] {
  if (undo === undefined) return [];
  return [` Taken back by: ${typeof undo === 'string' ? undo : `hand: ${undo.manual.do}`}.`];
}

function workOf({ step }: RestStep, script: string | undefined): Inline[] {
  switch (step.kind) {
    case 'runbook':
      return script === undefined
        ? [`${stepInWords(step)}; there is no script, since lifeboat.yaml does not name its instances.`]
        : [commandOf(['bash', script]), ` (${stepInWords(step)}).`];
    case 'check':
      return [`${stepInWords(step)}${expected(step.check)}.`];
    case 'manual': {
      const { do: what, owner, proof, due } = step.manual;
      const late = due === undefined ? '' : ` It may take ${formatSeconds(due / 1000)}.`;
      return [`${what}${owner === undefined ? '' : ` (${owner})`}. Write down: ${proof}${late}`];
    }
    case 'approve': {
      const { quorum, of, within, notBy } = step.approve;
      const who = of === undefined ? 'allowed signers' : `of ${of.join(', ')}`;
      const but = notBy === 'starter' ? ', not the person who started the plan,' : '';
      return [`${quorum} ${who}${but} approve within ${formatSeconds(within / 1000)}: who, when?`];
    }
    case 'command':
      return commandWords(step.command);
    case 'notify':
      return [`tell ${step.notify.to ?? 'everybody whom lifeboat.yaml notifies'}: ${step.notify.text}`];
    case 'wait':
      return [`wait ${formatSeconds(step.wait / 1000)}.`];
  }
}

function expected({ expect }: Extract<Step, { kind: 'check' }>['check']): string {
  const wanted = Object.entries(expect ?? {}).filter(([, value]) => value !== undefined);
  return wanted.length === 0
    ? ''
    : `; expected: ${wanted.map(([key, value]) => `${key} ${String(value)}`).join(', ')}`;
}

/** As typed; a changed word could name something else. */
function commandOf(argv: readonly string[]): Inline {
  const text = argv.map(shellQuoted).join(' ');
  if (show(text, LONGEST) === text) return { typed: text };
  return { bad: `a command that cannot be typed as it is (see the plan): ${show(text, LONGEST)}` };
}

const LONGEST = 2_000;

function commandWords({ argv, kind, landed }: Extract<Step, { kind: 'command' }>['command']): Inline[] {
  const typed = commandOf(argv);
  if (kind === 'repeatable' || landed === undefined) return [typed, '.'];
  return [
    typed,
    ', once only. Ask first whether it has happened: ',
    commandOf(landed),
    ' ends with 0 if it has.',
  ];
}
