import type { InstanceVerdict } from '../../plans/evaluation-schema.ts';
import type { Answer, InstanceStatus } from '../fleet/status-schema.ts';
import type { Fleet } from './sources.ts';
import { checksAgainst, keyCell, newestCell, serviceCell, VERDICT_WORDS } from './status-cells.ts';

/**
 * What lists keep of an instance: all that sorts, counts, finds and offers it. Of ten thousand instances few
 * are shown at once, and only those are judged in full.
 */
export interface FleetRow {
  readonly name: string;
  readonly role: 'source' | 'target';
  /** As the service calls it. */
  readonly state: string | undefined;
  readonly verdict: InstanceVerdict;
  /** Whether applications can work with it. */
  readonly service: Answer;
  readonly isDown: boolean;
  /** In which words its address says that it does not exist. */
  readonly notFound: string | undefined;
  /** Why it answers nothing about itself or its backups; undefined if it does, or was not asked. */
  readonly noAnswer: string | undefined;
  /** It answers, and refuses the token. */
  readonly isRefused: boolean;
  readonly openRun: string | undefined;
  readonly openFollowUps: number;
  /** Of its backups that are done; undefined if they are not known. */
  readonly hasBackup: boolean | undefined;
  /** It has no continuous archiving. */
  readonly hasNoWindow: boolean;
  /** The higher, the more endangered. */
  readonly danger: number;
  /** Seconds. */
  readonly newestAge: number | undefined;
  /** Seconds. */
  readonly rpo: number | undefined;
  /** What a filter searches: its name, and the words of the table. */
  readonly words: string;
  /** Everything about it, judged now. */
  status(): InstanceStatus;
}

/** The row of a status, and where to get the status when the row is shown. */
export function rowOf(status: InstanceStatus, judge: () => InstanceStatus = () => status): FleetRow {
  const { name, role, state, evaluation, inService, down, notFound, parts, window, newestBackup } = status;
  const hasBackup = newestBackup !== undefined || (parts.backups.state === 'known' ? false : undefined);
  return {
    name,
    role,
    state,
    verdict: evaluation.verdict,
    service: inService.answer,
    isDown: down !== undefined,
    notFound: notFound?.why,
    noAnswer: noAnswerOf(status),
    isRefused: isRefused(status),
    openRun: status.openRuns[0],
    openFollowUps: status.followUps?.open ?? 0,
    hasBackup,
    hasNoWindow: window === 'none' || parts.window.state === 'missing',
    danger: dangerOf(status),
    newestAge: newestBackup?.ageSeconds,
    rpo: status.rpo,
    words: wordsOf(status),
    status: judge,
  };
}

/** A frame asks for each instance of a fleet, which stays the same for many frames. */
const BY_NAME = new WeakMap<Fleet['instances'], ReadonlyMap<string, FleetRow>>();

export function rowNamed(fleet: Fleet['instances'], name: string | undefined): FleetRow | undefined {
  const byName = BY_NAME.get(fleet) ?? new Map(fleet.map((row) => [row.name, row]));
  BY_NAME.set(fleet, byName);
  return byName.get(name ?? '');
}

export type BoardSort = 'danger' | 'name' | 'newest backup' | 'RPO';

export const BOARD_SORTS: readonly BoardSort[] = ['danger', 'name', 'newest backup', 'RPO'];

/**
 * The first row: most endangered, by name, oldest newest backup, or furthest over the RPO. Equal ones keep
 * the order of the config.
 */
export function boardRows({ instances }: Pick<Fleet, 'instances'>, sort: BoardSort): readonly FleetRow[] {
  if (sort === 'name') return instances.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const weightOf = WEIGHTS[sort];
  return instances
    .map((row) => ({ row, weight: weightOf(row) }))
    .toSorted((one, other) => (one.weight === other.weight ? 0 : other.weight - one.weight))
    .map(({ row }) => row);
}

const WEIGHTS: Readonly<Record<Exclude<BoardSort, 'name'>, (row: FleetRow) => number>> = {
  danger: ({ danger }) => danger,
  'newest backup': ({ newestAge }) => newestAge ?? Number.MAX_VALUE,
  RPO: ({ rpo, newestAge }) =>
    rpo === undefined ? -Number.MAX_VALUE : (newestAge ?? Number.MAX_VALUE) / rpo,
};

/**
 * Down is first, because people wait for it; then not found. Out of service (locked-out applications, a
 * stopped node) weighs as much as not ready.
 */
function dangerOf(status: InstanceStatus): number {
  const { evaluation, inService, inDoubt = 0, followUps, openRuns, cautions } = status;
  return (
    DANGER[evaluation.verdict] +
    (status.down === undefined ? 0 : 16_000) +
    (status.notFound === undefined ? 0 : 8_000) +
    (inService.answer === 'no' ? 4_000 : 0) +
    (inDoubt > 0 ? 500 : 0) +
    ((followUps?.overdue ?? 0) > 0 ? 200 : 0) +
    (openRuns.length > 0 ? 100 : 0) +
    checksAgainst(status).filter(({ code }) => code !== 'unasked').length * 10 +
    cautions.length
  );
}

const DANGER: Readonly<Record<InstanceVerdict, number>> = {
  'not-ready': 4_000,
  unknown: 2_000,
  ready: 1_200,
  proven: 1_000,
  empty: 0,
};

function noAnswerOf({ parts }: InstanceStatus): string | undefined {
  const { overview, backups } = parts;
  if (backups.state !== 'failed' || overview.state === 'known') return undefined;
  return backups.why ?? 'no reason is known';
}

function isRefused({ parts }: InstanceStatus): boolean {
  const code = parts.backups.code ?? '';
  return code.startsWith('credentials.') || code === 'service.forbidden';
}

/** `yes` and `?` of its service are not searchable. */
function wordsOf(status: InstanceStatus): string {
  const { name, role, state, evaluation, key, parts, card } = status;
  const service = serviceCell(status);
  const isFailed = Object.values(parts).some((part) => part?.state === 'failed');
  return [
    ...[name, role, state ?? '', VERDICT_WORDS[evaluation.verdict]],
    ...(service === 'NO' ? ['out of service'] : service === 'yes' || service === '?' ? [] : [service]),
    ...[newestCell(status), keyCell(status)],
    ...key.possible.map(({ fingerprint }) => fingerprint),
    ...(isFailed ? ['failed', failedWord(status)] : []),
    ...(card === undefined ? ['no card'] : []),
  ].join(' ');
}

/** Why the backups could not be listed, as one word; the detail has the sentence. */
const FAILED_WORDS: Readonly<Record<string, string>> = {
  'credentials.refused': '401 login',
  'credentials.missing': 'no token',
  'service.forbidden': '403',
  'service.unreachable': 'no route',
  'service.timeout': 'silent',
  'answer.late': 'silent',
  'service.reset': 'cut off',
  'service.error': '5xx',
  'service.not-found': '404',
  'service.bad-answer': 'no JSON',
  'service.redirect': 'redirect',
};

export const LONGEST_FAILED = Math.max(...Object.values(FAILED_WORDS).map(({ length }) => length));

/** The same with its status: `401 login`, or `failed`. */
export function failedWord({ parts }: Pick<InstanceStatus, 'parts'>): string {
  return FAILED_WORDS[parts.backups.code ?? ''] ?? 'failed';
}
