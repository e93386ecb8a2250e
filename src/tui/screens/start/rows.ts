import { formatBytes, formatTime, futureWords, utcTime } from '../../../base/format.ts';
import { type BackupRow, whyNotRestorable } from '../../../view/app/backup-list.ts';
import { rowNamed } from '../../../view/app/fleet-row.ts';
import { SITUATIONS, type Situation } from '../../../view/app/situations.ts';
import {
  choiceFor,
  type InstanceChoice,
  instanceChoices,
  type KnownInstances,
  noSourceFor,
  targetChoices,
} from '../../../view/app/start-choices.ts';
import { takesNewest, touchesOfWish } from '../../../view/app/start-wish.ts';
import { futureCell, newestCell, VERDICT_WORDS } from '../../../view/app/status-cells.ts';
import type { InstanceStatus } from '../../../view/fleet/status-schema.ts';
import { briefly } from '../../../view/follow-up-words.ts';
import type { Around } from '../../live-screen.ts';
import type { Column } from '../../parts/table.ts';
import { type Line, span } from '../../span.ts';
import { planChoices } from './plan-rows.ts';
import { chosenSituation, knownInstances, listOf, type State } from './state.ts';

export interface Choice {
  readonly key: string;
  /** The text that the filter searches. */
  readonly text: string;
  readonly cells: () => readonly Line[];
  /** Why it cannot be chosen, in one sentence. */
  readonly disabled?: string | undefined;
  /** Shown below the table while the row is selected. */
  readonly details: () => readonly Detail[];
}

interface Detail {
  readonly text: string;
  readonly tone: 'plain' | 'warn' | 'bad';
}

export interface ChoiceTable {
  readonly columns: readonly Column<Choice>[];
  readonly rows: readonly Choice[];
  /** Shown if there are no rows. */
  readonly empty: string;
  /** A reason shared by several disabled rows, shown once above them. */
  readonly cause?: string | undefined;
}

export const LEFT_TO_RUN = 'left-to-run';

/** The rows of a step; undefined if the step is answered by typing. */
export function tableOf(state: State, around: Pick<Around, 'facts'>): ChoiceTable | undefined {
  const situation = chosenSituation(state);
  if (state.step === 'situation') return situations(state, around);
  if (situation === undefined) return undefined;
  const known = knownInstances(around);
  switch (state.step) {
    case 'instance':
      return {
        columns: INSTANCE_COLUMNS,
        rows: instanceChoices(situation, known).map((choice) => instanceRow(choice, false)),
        empty: 'the config is being read',
      };
    case 'target':
      return {
        columns: INSTANCE_COLUMNS,
        rows: targetChoices(state.answers.instance ?? '', known).map((choice) => instanceRow(choice, true)),
        empty: 'the config has no other instance',
      };
    case 'backup':
      return backups(state, situation, around);
    default:
      return undefined;
  }
}

function columnsOf(...columns: readonly Omit<Column<Choice>, 'cell'>[]): readonly Column<Choice>[] {
  return columns.map((column, at) => ({ ...column, cell: (row) => row.cells()[at] ?? [] }));
}

const SITUATION_COLUMNS = columnsOf({ title: 'situation' }, { title: 'what is done', drop: 1, least: 20 });

function situations({ answers }: State, around: Pick<Around, 'facts'>): ChoiceTable {
  const known = knownInstances(around);
  // A situation is ruled out only by what holds for every instance that it could be about.
  const outs = SITUATIONS.map((situation) => noSourceFor(situation, answers.instance, known));
  const causes = outs.flatMap((out) =>
    out?.disabled === undefined ? [] : [`${out.name}: ${out.disabled.why}`],
  );
  const cause = causes.find((one) => causes.filter((other) => other === one).length > 1);
  const rows = SITUATIONS.map((situation, at): Choice => {
    const { id, says, does, needs } = situation;
    const out = outs[at];
    const why = out?.disabled && `${out.name}: ${out.disabled.why}`;
    const isSaid = why !== undefined && why === cause;
    return {
      key: id,
      text: `${says} ${does}`,
      cells: () => [
        [span(says, out === undefined ? 'text' : 'text.dim')],
        [
          span(
            out?.disabled === undefined ? does : `cannot work: ${isSaid ? 'see above' : out.disabled.why}`,
            'text.dim',
          ),
        ],
      ],
      disabled: why,
      details: () => [
        // Cautions go last, because a low window cuts the end.
        ...cautionsOf(situation, answers.instance, known),
        { text: does, tone: 'plain' },
        { text: `needs ${needs}`, tone: 'plain' },
        ...(out === undefined ? [] : outOf(out).slice(isSaid ? 1 : 0)),
      ],
    };
  });
  const plans = planChoices(answers.instance, around);
  const [first, last] = [plans.filter(({ isGone }) => isGone), plans.filter(({ isGone }) => !isGone)];
  return { columns: SITUATION_COLUMNS, rows: [...first, ...rows, ...last], empty: '', cause };
}

function cautionsOf(
  situation: Situation,
  instance: string | undefined,
  known: KnownInstances,
): readonly Detail[] {
  const choice = instance === undefined ? undefined : choiceFor(situation, instance, known);
  return (choice?.cautions ?? []).map((text) => ({ text, tone: 'warn' }));
}

const INSTANCE_COLUMNS = columnsOf(
  { title: 'instance', least: 12 },
  { title: 'mode' },
  { title: 'state', least: 8 },
  { title: 'verdict', drop: 2 },
  { title: 'newest backup', drop: 3 },
  { title: 'proven', drop: 4 },
  { title: '', drop: 1, least: 12 },
);

function instanceRow(choice: InstanceChoice, isTarget: boolean): Choice {
  const { name, role, isRehearsal, row, disabled, cautions } = choice;
  return {
    key: name,
    text: `${name} ${role} ${row?.state ?? ''}`,
    cells: () => {
      const status = row?.status();
      return [
        [span(name, disabled === undefined ? 'text' : 'text.dim')],
        [span(isRehearsal ? 'REHEARSAL' : 'LIVE', isRehearsal ? 'text' : 'status.bad')],
        [span(stateWord(status), status?.state === undefined ? 'text.dim' : 'text')],
        [span(status === undefined ? '?' : VERDICT_WORDS[status.evaluation.verdict])],
        [
          span(
            status?.lastSeenBackup === undefined
              ? backupAge(status, status?.newestBackup)
              : newestCell(status),
          ),
        ],
        [span(backupAge(status, status?.provenBackup))],
        [span(disabled === undefined ? (cautions[0] ?? '') : `no: ${disabled.why}`, 'text.dim')],
      ];
    },
    disabled: disabled?.why,
    details: () => [
      ...(disabled === undefined ? [] : outOf(choice)),
      ...cautions.map((text): Detail => ({ text, tone: 'warn' })),
      ...(disabled === undefined ? knownOf(row?.status(), isTarget) : []),
    ],
  };
}

/** `none` if the service has none, `?` if that is not known. */
function backupAge(
  status: InstanceStatus | undefined,
  backup: { readonly ageSeconds?: number | undefined } | undefined,
): string {
  if (backup === undefined && status?.parts.backups.state === 'known') return 'none';
  return ageOf(backup?.ageSeconds);
}

function outOf({ name, disabled }: InstanceChoice): readonly Detail[] {
  if (disabled === undefined) return [];
  return [
    { text: `${name}: ${disabled.why}`, tone: 'bad' },
    { text: disabled.instead, tone: 'plain' },
  ];
}

/** The data of a target is replaced, so whether its backup was proven is not shown. */
function knownOf(status: InstanceStatus | undefined, isTarget: boolean): readonly Detail[] {
  if (status === undefined) return [{ text: 'it has not been asked yet', tone: 'plain' }];
  const { newestBackup, lastSeenBackup: seen, provenBackup, card } = status;
  const [newest, asSeen] =
    seen === undefined ? [newestBackup, ''] : [seen, `, as seen ${timeOf(seen.seenAt)}`];
  return [
    {
      text:
        newest === undefined
          ? 'no backup of it is known'
          : `newest backup ${newest.id}: ${timeOf(newest.triggeredAt)}${asSeen}`,
      tone: 'plain',
    },
    {
      text:
        provenBackup === undefined
          ? 'none of its backups was proven'
          : `newest proven backup ${provenBackup.id}: ${timeOf(provenBackup.triggeredAt)}, key ${provenBackup.key}`,
      tone: provenBackup === undefined && !isTarget ? 'warn' : 'plain',
    },
    ...(card === undefined
      ? []
      : [{ text: `recovery card of ${timeOf(card.preparedAt)}`, tone: 'plain' } as const]),
  ];
}

function stateWord(status: InstanceStatus | undefined): string {
  if (status?.state !== undefined) return status.state;
  return status?.parts.backups.state === 'failed' ? 'no answer' : 'not asked yet';
}

const BACKUP_COLUMNS = columnsOf(
  { title: 'backup', least: 10 },
  { title: 'age', align: 'right' },
  { title: 'requested (UTC)', drop: 3 },
  { title: 'size', align: 'right', drop: 2 },
  { title: 'proven' },
  { title: 'key', drop: 1 },
  { title: 'status', least: 6, drop: 4 },
);

function backups(state: State, situation: Situation, around: Pick<Around, 'facts'>): ChoiceTable {
  const isElsewhere = touchesOfWish(situation.wish).target === 'replaced';
  const isNewest = takesNewest(situation.wish);
  const { last } = listOf(state, around);
  const rows = (last?.value.rows ?? []).map((row) => backupRow(row, isElsewhere));
  const problem: readonly Detail[] =
    last?.value.problem === undefined
      ? []
      : [
          {
            text: `the service gives no list (${last.value.problem}): these are on record, or were listed before`,
            tone: 'warn',
          },
        ];
  const first: Choice = {
    key: LEFT_TO_RUN,
    text: 'newest ask run',
    cells: () => [[span(isNewest ? 'the newest' : 'ask me in the run')]],
    details: () => [
      {
        text: isNewest
          ? 'the run takes the newest by the guid on the recovery card, and asks you first'
          : 'the run lists the newest ones and asks you; it recommends none, because all data is replaced',
        tone: 'plain',
      },
      ...(isNewest ? withoutCard(state, around) : []),
      ...problem,
    ],
  };
  return { columns: BACKUP_COLUMNS, rows: [first, ...rows], empty: '' };
}

/** A warning if the run cannot determine the newest backup by itself. */
function withoutCard({ answers }: State, around: Pick<Around, 'facts'>): readonly Detail[] {
  const status = rowNamed(knownInstances(around).fleet, answers.instance)?.status();
  if (status?.parts.record.state !== 'known' || status.card !== undefined) return [];
  return [
    {
      text: `no recovery card of ${status.name} is on record: the run asks you which backup, or for the guid`,
      tone: 'warn',
    },
  ];
}

function backupRow(row: BackupRow, isElsewhere: boolean): Choice {
  const { id, backupId, status, triggeredAt, ageSeconds, aheadSeconds, size, provenAt, keys } = row;
  const why = whyNotRestorable(row, isElsewhere);
  return {
    key: isElsewhere ? (backupId ?? `#${id}`) : String(id),
    text: `${id} ${backupId ?? ''} ${status} ${triggeredAt ?? ''} ${provenAt === undefined ? '' : 'proven'}`,
    cells: () => [
      [span(String(id), why === undefined ? 'text' : 'text.dim')],
      [span(aheadSeconds === undefined ? ageOf(ageSeconds) : futureCell(aheadSeconds))],
      [span(triggeredAt === undefined ? '?' : formatTime(triggeredAt))],
      [span(size === undefined ? '?' : formatBytes(size))],
      [span(provenAt === undefined ? 'no' : 'proven', provenAt === undefined ? 'text.dim' : 'status.ok')],
      [span(keyWords(row))],
      [span(status)],
    ],
    disabled: why,
    details: () => [
      ...(why === undefined ? [] : [{ text: why, tone: 'bad' } as const]),
      ...(aheadSeconds === undefined ? [] : [{ text: futureWords(aheadSeconds), tone: 'warn' } as const]),
      { text: provenWords(row), tone: provenAt === undefined ? 'warn' : 'plain' },
      ...keys
        .filter(({ isHeld }) => isHeld === false)
        .map(
          ({ fingerprint }): Detail => ({
            text: `key ${fingerprint} is not in the key store: it has to be entered, or found first`,
            tone: 'warn',
          }),
        ),
      ...(backupId === undefined ? [] : [{ text: `backup_id ${backupId}`, tone: 'plain' } as const]),
    ],
  };
}

/** Only an opened backup has a certain key; for any other, dates narrow down the candidates. */
function keyWords({ keys, provenAt }: BackupRow): string {
  const [first, ...others] = keys;
  if (first === undefined) return 'unknown';
  const perhaps = provenAt === undefined ? 'perhaps ' : '';
  if (others.length > 0) return `${perhaps}one of ${keys.length} keys`;
  const held = first.isHeld === undefined ? '?' : first.isHeld ? 'held' : 'NOT HELD';
  return `${perhaps}${first.fingerprint} ${held}`;
}

function provenWords({ provenAt, keys }: BackupRow): string {
  if (provenAt !== undefined) return `it was opened to its last byte at ${timeOf(provenAt)}`;
  return keys.length === 0
    ? 'it was never opened, and no key of it is on record'
    : 'it was never opened: whether a key fits is not proven';
}

function timeOf(at: string | undefined): string {
  return at === undefined ? 'an unknown time' : utcTime(at);
}

function ageOf(seconds: number | undefined): string {
  return seconds === undefined ? '?' : briefly(seconds);
}
