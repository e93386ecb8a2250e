import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { homeFolder, instanceNamed, parseConfig } from '../config/load.ts';
import { EXIT } from '../errors.ts';
import { memoryStore } from '../keys/memory-store.ts';
import type { Lab } from '../lab/lab.ts';
import { canDraw } from '../plain/terminal.ts';
import { startRun } from '../runner/runs.ts';
import { Secret } from '../secret.ts';
import { printableJson } from '../text.ts';
import type { CommandContext } from './context.ts';
import { drillReport, drillSummary } from './drill-report.ts';
import { type DrillProof, restoreAndCompare } from './drill-restore.ts';
import { drive } from './drive.ts';
import { scenarioFor, stopSignal } from './lab.ts';
import { writeReport } from './run-report.ts';
import { runbookNamed } from './runbook-files.ts';
import { openForRun } from './service-of.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

interface DrillFlags {
  readonly auto?: boolean;
  readonly report?: string;
  readonly revision: '61' | '62';
  readonly scenario?: string;
  readonly json?: boolean;
}

const INSTANCE = 'orders';

/**
 * `lifeboat drill`: starts the lab, walks the rotation on it, restores the proven backup into a scratch database, compares its rows with the
 * source's, and says what was proven. Lab, databases and keys are gone afterwards, whatever ends it; report and journal stay.
 */
export async function drill(
  context: CommandContext,
  [name = 'rotate-key']: readonly string[],
  flags: DrillFlags,
): Promise<number> {
  const runbook = runbookNamed(name);
  const scenario = flags.scenario === undefined ? undefined : await scenarioFor(flags.scenario);
  const folder = flags.report === undefined ? defaultFolder(context) : resolve(flags.report);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const stop = stopSignal();
  const say = (line: string) => context.stderr.write(`${line}\n`);
  say('starting the lab: the service on this machine, on real PostgreSQL');
  let screenIsTaken = false;
  // A line of the lab in the middle of the screen would shift what stands there.
  const labSays = (line: string) => {
    if (!screenIsTaken) say(line);
  };
  let lab: Lab | undefined;
  let workspace: Workspace | undefined;
  try {
    const { startLab } = await import('../lab/lab.ts');
    lab = await startLab({
      revision: flags.revision === '61' ? 61 : 62,
      ...(scenario === undefined ? {} : { scenario }),
      signal: stop.signal,
      log: labSays,
    });
    const config = parseConfig(lab.configYaml, join(lab.folder, 'lifeboat.yaml'));
    const here = { ...context, env: { ...context.env, LIFEBOAT_HOME: folder } };
    workspace = await openWorkspace(here, { store: memoryStore() });
    await takeLabKey(lab, workspace);
    const runId = await startRun(workspace.journal, {
      runbook,
      instance: INSTANCE,
      input: { instance: INSTANCE, reason: 'drill' },
      mode: 'REHEARSAL',
      operator: workspace.operator,
      tool: { name: 'lifeboat', version: context.version, node: process.version },
    });
    const summary = { runId, runbook: runbook.id, version: runbook.version, instance: INSTANCE };
    const auto = flags.auto === true || flags.json === true || !canDraw(context);
    await using instance = await openForRun(here, config, workspace, INSTANCE);
    screenIsTaken = !auto;
    const exitCode = await drive(here, instance, workspace, summary, {
      yes: auto,
      confirm: auto ? INSTANCE : undefined,
      json: flags.json ?? false,
      plain: auto,
    });
    screenIsTaken = false;
    if (stop.signal.aborted) return EXIT.interrupted;
    if (exitCode !== EXIT.closed) {
      say(`the drill ends here: the run was not proven; its journal is in ${folder}`);
      return exitCode;
    }
    const { objectives } = instanceNamed(config, INSTANCE);
    say('restoring the proven backup into a scratch database');
    const proof = await restoreAndCompare(lab, workspace, runId, INSTANCE);
    await workspace.journal.append([
      { stream: `instance/${INSTANCE}`, type: 'backup.restored', body: provenFact(proof) },
    ]);
    const report = await writeReport(workspace.journal, folder, summary, proof.files);
    await writeFile(join(folder, 'report.md'), `${report}\n${drillReport(proof, objectives)}`, {
      mode: 0o600,
    });
    const result = { ...proof, report: join(folder, 'report.md'), journal: join(folder, 'lifeboat.db') };
    context.stdout.write(
      flags.json ? `${printableJson({ drill: result })}\n` : drillSummary(result, objectives),
    );
    return proof.equal ? EXIT.closed : EXIT.failed;
  } catch (thrown) {
    if (stop.signal.aborted) return EXIT.interrupted;
    throw thrown;
  } finally {
    await workspace?.close();
    await lab?.close();
    stop.release();
  }
}

/** What the ledger keeps of a drill. */
function provenFact({ runId, backup, key, verdict, rows, rtoSeconds, rpoSeconds }: DrillProof) {
  return { run: runId, backup: { id: backup }, key, verdict, rows, rtoSeconds, rpoSeconds };
}

function defaultFolder(context: CommandContext): string {
  const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
  return join(homeFolder(context.env), 'drills', stamp);
}

/** The lab hands out the key that its first backup was made with, as a team would have it in its key store. */
async function takeLabKey(lab: Lab, { keyring, journal }: Workspace): Promise<void> {
  const key = new Secret((await readFile(lab.keyFile, 'utf8')).trim());
  journal.guard(key);
  const fingerprint = await keyring.add(INSTANCE, key);
  const body = { fingerprint, note: 'the key that the lab began with' };
  await journal.append([{ stream: `instance/${INSTANCE}`, type: 'key.added', body }]);
}
