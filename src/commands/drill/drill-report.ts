import { formatSeconds } from '../../base/format.ts';
import type { ChapterProof } from './chapter.ts';

/** What the config asks for, in milliseconds, by instance. */
type Promised = Readonly<
  Record<
    string,
    { readonly objectives: { readonly rto?: number | undefined; readonly rpo?: number | undefined } }
  >
>;

/** A chapter's part of the report, Markdown. */
export function drillReport(proof: ChapterProof, instances: Promised): string {
  const objectives = instances[proof.instance]?.objectives ?? {};
  return [
    `## The drill: ${proof.title}`,
    '',
    ...measureLines(proof, objectives).map((line) => `- ${line}`),
    `- verdict: ${verdictOf(proof)}`,
    '',
  ].join('\n');
}

/** What a drill prints at its end. */
export function drillSummary(
  proofs: readonly ChapterProof[],
  {
    proven,
    report,
    journal,
    due,
    commands,
  }: {
    readonly proven: boolean;
    readonly report: string;
    readonly journal: string;
    /** When the next drill is due, in words. */
    readonly due: string;
    /** What to type to look further. */
    readonly commands: readonly string[];
  },
  instances: Promised,
): string {
  return [
    proven ? 'drill: proven' : 'drill: NOT PROVEN',
    ...proofs.flatMap((proof) => chapterLines(proof, instances)),
    `  report: ${report}`,
    `  journal: ${journal}`,
    `  next drill due: ${due}`,
    '  to look at it again:',
    ...commands.map((command) => `    ${command}`),
    '',
  ].join('\n');
}

/** The data's verdict, where everything that was checked holds. */
function verdictOf({ proven, verdict }: ChapterProof): string {
  return proven ? verdict : 'differs, NOT PROVEN';
}

function chapterLines(proof: ChapterProof, instances: Promised): string[] {
  const rows = proof.tables.reduce((sum, table) => sum + table.rows, 0);
  const tables = proof.tables
    .map(({ name, rows: count, equal }) => `${name} ${count}${equal ? '' : ' (DIFFERENT)'}`)
    .join(', ');
  const broken = proof.checks.filter(({ holds }) => !holds).map(({ what }) => `    NOT TRUE: ${what}`);
  return [
    `  ${proof.title}: ${verdictOf(proof)}`,
    ...(proof.tables.length === 0 ? [] : [`    rows compared: ${rows} (${tables})`]),
    ...broken,
    ...measureLines(proof, instances[proof.instance]?.objectives ?? {}).map((line) => `    ${line}`),
    `    run ${proof.runIds.join(', ')}`,
  ];
}

function measureLines(
  { measures }: ChapterProof,
  objectives: { readonly rto?: number | undefined; readonly rpo?: number | undefined },
): string[] {
  const line = (
    name: string,
    seconds: number | undefined,
    limit: number | undefined,
    how: string | undefined,
  ) =>
    seconds === undefined
      ? []
      : [`${name}: ${measured(seconds, limit)}${how === undefined ? '' : `, ${how}`}`];
  return [
    ...line('RTO', measures.rtoSeconds, objectives.rto, measures.rtoHow),
    ...line('RPO', measures.rpoSeconds, objectives.rpo, measures.rpoHow),
  ];
}

/** A measured time against its objective, where there is one. */
function measured(seconds: number, objectiveMs: number | undefined): string {
  const text = formatSeconds(seconds);
  if (objectiveMs === undefined) return text;
  const kept = seconds * 1000 <= objectiveMs ? 'kept' : 'MISSED';
  return `${text} (objective ${formatSeconds(objectiveMs / 1000)}: ${kept})`;
}
