import { EXIT, errorCode, FILE_TROUBLE, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { askedProgress } from '../../cli/asked-progress.ts';
import type { Action } from '../../cli/define.ts';
import { durationFrom } from '../../cli/numbers.ts';
import { askFleet } from '../../compose/ask-fleet.ts';
import { readFleetRecord } from '../../compose/fleet-record.ts';
import { recallBackups, rememberBackups } from '../../compose/last-seen.ts';
import { openKeys } from '../../compose/workspace.ts';
import { homeFolder } from '../../config/find.ts';
import { instanceNamed, loadConfig } from '../../config/load.ts';
import type { Keyring } from '../../keys/key-store.ts';
import { drillDue } from '../../report/drill/drill-report.ts';
import { instanceStatus } from '../../view/fleet/instance-status.ts';
import type { InstanceStatus } from '../../view/fleet/status-schema.ts';
import { homeTrouble } from '../doctor/home-trouble.ts';
import { knownDrills } from '../drill/drill-records.ts';
import { metricsText } from './metrics-text.ts';
import { type FleetReport, printStatus } from './print-status.ts';

interface StatusFlags {
  readonly instance?: readonly string[];
  readonly prometheus?: string;
  readonly limit?: string;
}

/** How many are asked at the same time: must not burden a service with one backup manager for hundreds. */
const AT_ONCE = 8;
const LIMIT_MS = 20_000;

/**
 * `lifeboat status`: reports for each instance whether it could be recovered now, within its objectives, and
 * whether it is in service. Sends only GETs. Exit 0 when each could be recovered within its objectives and is
 * in service, 1 otherwise: an unknown about a recovery counts as no, because nothing shows the contrary.
 */
export const status: Action<StatusFlags> = async (context, _, flags) => {
  const limitMs = flags.limit === undefined ? LIMIT_MS : durationFrom(flags.limit, 'limit', ['1s', '1h']);
  const config = await loadConfig(context.env, context.configPath);
  const { instance: named = [] } = flags;
  for (const name of named) instanceNamed(config, name);
  const names = named.length > 0 ? [...new Set(named)] : Object.keys(config.instances);
  const record = await readFleetRecord(context, names);
  const trouble = await homeTrouble(homeFolder(context.env));
  if (trouble !== undefined) {
    context.stderr.write(`warning: ${trouble.text}\n`);
    for (const hint of trouble.hints) context.stderr.write(`hint: ${hint}\n`);
  }
  const found = new Map<string, InstanceStatus>();
  const progress = askedProgress(context, names.length);
  let opened: Promise<Keyring> | undefined;
  const keyring = () => {
    opened ??= openKeys(context, 'look');
    return opened;
  };
  try {
    await askFleet({
      config,
      names,
      record,
      keyring,
      limitMs,
      atOnce: AT_ONCE,
      remember: rememberBackups(context, config),
      recall: recallBackups(context, config),
      answered: (facts) => {
        found.set(facts.name, instanceStatus(facts, new Date()));
        progress.answered(found.size);
      },
    });
  } finally {
    progress.end();
  }
  const at = new Date();
  const drills = drillDue(knownDrills(context.env), config.drills?.every, at);
  const instances = names.flatMap((name) => found.get(name) ?? []);
  await printStatus(context, { at, instances, drills });
  if (flags.prometheus !== undefined) await writeMetrics(flags.prometheus, { at, instances, drills });
  return instances.every(isGood) ? EXIT.closed : EXIT.failed;
};

function isGood({ recoverable: { answer }, objectives, inService }: InstanceStatus): boolean {
  if (answer === 'empty') return true;
  return answer === 'yes' && (objectives?.answer ?? 'yes') === 'yes' && inService.answer !== 'no';
}

/**
 * Writes the findings for the textfile collector of Prometheus' node exporter: whole or not at all, so that
 * the collector never reads half of it. World-readable, because the exporter is another user; it holds names
 * and numbers and no secret. Rejects with `output.file`.
 */
async function writeMetrics(path: string, report: FleetReport): Promise<void> {
  // Imported late: it starts Node threads, which every status would otherwise wait for.
  const { default: writeFileAtomic } = await import('write-file-atomic');
  try {
    await writeFileAtomic(path, metricsText(report), { mode: 0o644 });
  } catch (cause) {
    const why = FILE_TROUBLE[errorCode(cause) ?? ''] ?? errorCode(cause) ?? 'the system does not say why';
    throw new LifeboatError('output.file', `${show(path, 200)} cannot be written: ${why}`, {
      hints: ['the metrics that were there before stay', 'name another file with --prometheus FILE'],
      cause,
    });
  }
}
