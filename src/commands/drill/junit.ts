import { closeSync, openSync, realpathSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import writeFileAtomic from 'write-file-atomic';
import { UnusableFile, whyUnread } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatSeconds } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { DrillChapter, DrillRecord } from '../../report/drill/drill-report.ts';
import { type Markup, markup, NOTHING, trusted } from '../../report/render/markup.ts';

/** Throws a usage error before a drill is made in vain. Leaves an existing file as it is. */
export function assertWritable(path: string): void {
  try {
    if (path === '') throw new UnusableFile('it has no name');
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.isFile() === false) throw new UnusableFile('it is not a plain file');
    // Probe as the file is written: a new file beside it, which then replaces it.
    const probe = `${there === undefined ? path : realpathSync(path)}.${process.pid}.probe`;
    closeSync(openSync(probe, 'wx'));
    rmSync(probe);
  } catch (cause) {
    throw new LifeboatError('usage.junit', notWritten(path, whyUnread(cause)), {
      hints: ['nothing was started', 'name another file with --junit FILE'],
      cause,
      exitCode: EXIT.usage,
    });
  }
}

/** Writes a drill as JUnit, whole or not at all, replacing an existing file. Rejects with `output.file`. */
export async function writeJunit(path: string, record: DrillRecord): Promise<void> {
  try {
    await writeFileAtomic(path, junitText(record, hostname()), { mode: 0o644 });
  } catch (cause) {
    throw new LifeboatError('output.file', notWritten(path, whyUnread(cause)), {
      hints: ['the drill is over, and its record stays in its folder', 'name another file with --junit FILE'],
      cause,
    });
  }
}

function notWritten(path: string, why: string): string {
  return `the JUnit file ${show(path, 200)} cannot be written: ${why}`;
}

/** A test case and its result. Its name is the same in every drill, so that tools can track it. */
interface Case {
  readonly group: string;
  readonly name: string;
  readonly seconds?: number;
  readonly bad?: { readonly kind: 'failure' | 'error' | 'skipped'; readonly message: string };
  readonly output?: string;
}

/**
 * For Jenkins and GitLab: a suite with a case for each run and comparison. An unclosed run is an error, a
 * difference a failure; unplayed is skipped.
 */
export function junitText(record: DrillRecord, hostname: string): string {
  const cases = casesOf(record);
  const count = (kind: string) => cases.filter(({ bad }) => bad?.kind === kind).length;
  const seconds = cases.reduce((sum, one) => sum + (one.seconds ?? 0), 0);
  const [failures = 0, errors = 0, skipped = 0] = ['failure', 'error', 'skipped'].map(count);
  const all = markup`tests="${cases.length}" time="${seconds.toFixed(3)}"`;
  const counts = markup`${all} failures="${failures}" errors="${errors}" skipped="${skipped}"`;
  const begun = record.begunAt.slice(0, 19);
  return `${markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="lifeboat drill" ${counts}>
  <testsuite name="lifeboat drill ${record.scope}" timestamp="${begun}" hostname="${hostname}" ${counts}>
    <properties>
${propertiesOf(record).map(propertyOf)}    </properties>
${cases.map(caseOf)}  </testsuite>
</testsuites>
`}`;
}

function caseOf({ group, name, seconds = 0, bad, output }: Case): Markup {
  return markup`    <testcase classname="lifeboat.${group}" name="${name}" time="${seconds.toFixed(3)}">${
    bad === undefined ? NOTHING : outcomeOf(bad)
  }${output === undefined ? NOTHING : markup`<system-out>${output}</system-out>`}</testcase>\n`;
}

function outcomeOf({ kind, message }: NonNullable<Case['bad']>): Markup {
  if (kind === 'skipped') return markup`<skipped message="${message}"/>`;
  const end = trusted(`</${kind}>`);
  return markup`<${trusted(kind)} message="${message}" type="lifeboat.${kind}">${message}${end}`;
}

function casesOf({ chapters, outcome, failure }: DrillRecord): readonly Case[] {
  const cases = chapters.flatMap(chapterCases);
  const isBroken = cases.some(({ bad }) => bad !== undefined && bad.kind !== 'skipped');
  if (outcome === 'proven' || isBroken) return cases;
  // However it ended, a drill that proves nothing must not look like one that does.
  const message =
    failure ?? (outcome === 'left' ? 'the drill was left before its end' : 'the drill was not proven');
  return [...cases, { group: 'drill', name: 'the drill', bad: { kind: 'error', message } }];
}

function chapterCases({
  runbook: group,
  title,
  outcome,
  seconds,
  runIds,
  checks,
  tables,
}: DrillChapter): Case[] {
  const unless = (isGood: boolean, message: string) =>
    isGood ? {} : { bad: { kind: 'failure', message } as const };
  if (outcome === 'unplayed')
    return [{ group, name: title, bad: { kind: 'skipped', message: 'the drill had ended before' } }];
  if (outcome === 'broken')
    return [{ group, name: title, seconds, bad: { kind: 'error', message: 'its run was not closed' } }];
  const compared: Case[] = [
    ...checks.map(({ what, holds }) => ({
      ...{ group, name: `${title}: ${what}` },
      ...unless(holds, `not true: ${what}`),
    })),
    ...tables.map(({ name, rows, equal }) => ({
      ...{ group, name: `${title}: table ${name}`, output: `${rows} rows compared` },
      ...unless(equal, `table ${name} differs from what was expected`),
    })),
  ];
  const isSaid = outcome === 'proven' || compared.some(({ bad }) => bad !== undefined);
  const run = { group, name: title, seconds, output: `run ${runIds.join(', ')}` };
  return [{ ...run, ...unless(isSaid, 'nothing of it was proven') }, ...compared];
}

function propertiesOf({ id, scope, revision, version, outcome, chapters }: DrillRecord) {
  const about = Object.entries({ drill: id, scope, outcome, revision, lifeboat: version });
  const figures = chapters.flatMap(({ runbook, rtoSeconds, rpoSeconds, objectives }) => [
    [`${runbook}.rto`, measured(rtoSeconds, objectives.rtoSeconds)] as const,
    [`${runbook}.rpo`, measured(rpoSeconds, objectives.rpoSeconds)] as const,
  ]);
  return [...about, ...figures].flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
}

function propertyOf([name, value]: readonly [string, string]): Markup {
  return markup`      <property name="${name}" value="${value}"/>\n`;
}

function measured(seconds: number | undefined, limit: number | undefined): string | undefined {
  if (seconds === undefined) return undefined;
  if (limit === undefined) return formatSeconds(seconds);
  const verdict = seconds <= limit ? 'met' : 'MISSED';
  return `${formatSeconds(seconds)}, objective ${formatSeconds(limit)} ${verdict}`;
}
