import type { CommandContext } from '../../cli/context.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Loaders, TypedMoment } from '../../view/app/sources.ts';
import { loadAudit } from './load-audit.ts';
import { loadBackups } from './load-backups.ts';
import { loadDryRun } from './load-dry-run.ts';
import { loadEntries, loadOlderEntries } from './load-entries.ts';
import { fleetLoader } from './load-fleet.ts';
import { folderLooker } from './load-folder.ts';
import { homeOf } from './load-home.ts';
import { loadInstance } from './load-instance.ts';
import { loadKeys } from './load-keys.ts';
import { loadLab } from './load-lab.ts';
import { loadReport } from './load-report.ts';
import { loadDrillRuns, runsLoader } from './load-runs.ts';

/** How the app learns what its screens show. Only looks, and leaves nothing open. */
export function loadersFor(context: CommandContext, config: LoadedConfig): Loaders {
  const loadRuns = runsLoader(context);
  const look = folderLooker(context);
  return {
    home: async (_, emit) => emit(await homeOf(context, config)),
    fleet: fleetLoader(context, config),
    runs: async (_, emit) => emit(await loadRuns()),
    drillRuns: async (_, emit) => emit(await loadDrillRuns(context)),
    instance: (of, emit, signal) => loadInstance(context, config, of, emit, signal),
    backups: async (of, emit, signal) => emit(await loadBackups(context, config, of, signal)),
    keys: async (_, emit) => emit(await loadKeys(context, config)),
    entries: async (of, emit) => emit(await loadEntries(context, of)),
    olderEntries: async (of, emit) => emit(await loadOlderEntries(context, of)),
    audit: async (of, emit, signal) => emit(await loadAudit(context, of, signal)),
    dryRun: async (of, emit, signal) => emit(await loadDryRun(context, config, of, signal)),
    moment: async (of, emit) => emit(await momentTyped(of)),
    report: async (of, emit) => emit(await loadReport(context, of)),
    lab: async (_, emit, signal) => emit(await loadLab(config, signal)),
    folder: async (of, emit, signal) => emit(await look.folder(of, signal)),
    secretFile: async (of, emit, signal) => emit(await look.secretFile(of, signal)),
    publicKeyFile: async (of, emit, signal) => emit(await look.publicKeyFile(of, signal)),
  };
}

/** Reads a moment of the past; the parser of dates is loaded with the first one. */
async function momentTyped(text: string): Promise<TypedMoment> {
  const { readMoment } = await import('../../view/moment.ts');
  const now = new Date();
  const read = readMoment(text, { now, earliest: new Date(0), latest: now });
  return 'time' in read ? { time: read.time.toISOString() } : read;
}
