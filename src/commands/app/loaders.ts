import { dateAt } from '../../base/date.ts';
import { idOfInstance } from '../../base/instance-url.ts';
import type { CommandContext } from '../../cli/context.ts';
import { loginName } from '../../compose/workspace.ts';
import { homeFolder } from '../../config/find.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { storeNamed } from '../../config/store-named.ts';
import { type DryRunFacts, dryRunFacts, refusedRun } from '../../view/app/dry-run-facts.ts';
import type { Home, HomeLab, Loaders, TypedMoment } from '../../view/app/sources.ts';
import type { StartWish } from '../../view/app/start-wish.ts';
import { fileChecker } from './check-file.ts';
import { loadAudit } from './load-audit.ts';
import { loadBackups } from './load-backups.ts';
import { loadEntries, loadOlderEntries } from './load-entries.ts';
import { fleetLoader } from './load-fleet.ts';
import { loadFollowUps } from './load-follow-ups.ts';
import { loadInstance } from './load-instance.ts';
import { keptKeyring, loadKeys } from './load-keys.ts';
import { loadLab } from './load-lab.ts';
import { loadReport } from './load-report.ts';
import { loadDrillRuns, runsLoader } from './load-runs.ts';

/** The loaders of the app's screens. They only read, and leave nothing open. */
export function loadersFor(context: CommandContext, config: LoadedConfig): Loaders {
  const loadRuns = runsLoader(context);
  const look = fileChecker(context);
  return {
    home: async (_, emit) => emit(await homeOf(context, config)),
    fleet: fleetLoader(context, config),
    runs: async (_, emit) => emit(await loadRuns()),
    followUps: async (_, emit) => emit(await loadFollowUps(context)),
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
    secretFile: async (of, emit, signal) => emit(await look.secretFile(of, signal)),
    publicKeyFile: async (of, emit, signal) => emit(await look.publicKeyFile(of, signal)),
  };
}

/** Parses a moment of the past; the date parser is imported on first use. */
async function momentTyped(text: string): Promise<TypedMoment> {
  const { readMoment } = await import('../../view/moment.ts');
  const now = new Date();
  const read = readMoment(text, { now, earliest: dateAt(0), latest: now });
  return 'time' in read ? { time: read.time.toISOString() } : read;
}

/** What a run would do, and what blocks it; the refusal of a run is a result too. */
async function loadDryRun(
  context: CommandContext,
  config: LoadedConfig,
  { runbook: id, ...flags }: StartWish,
  signal: AbortSignal,
): Promise<DryRunFacts> {
  const { findDryRun } = await import('../run/find-dry-run.ts');
  try {
    const keys = () => keptKeyring(context);
    const found = await findDryRun(context, config, [id], flags, { keys, signal });
    return dryRunFacts(found, found.usual);
  } catch (thrown) {
    signal.throwIfAborted();
    return refusedRun(thrown);
  }
}

/** The facts from config and environment. Opens nothing. */
export async function homeOf(context: CommandContext, config: LoadedConfig): Promise<Home> {
  const store = await storeNamed(context.env, context.configPath);
  const folder = homeFolder(context.env);
  return {
    instances: Object.entries(config.instances).map(([name, { role, rehearsal, revision, url }]) => ({
      name,
      role,
      isRehearsal: rehearsal,
      revision: String(revision),
      place: new URL(url).host,
      ...addressOf(url),
    })),
    apps: Object.values(config.instances).flatMap(({ apps = [] }) => apps.map(({ name }) => name)),
    operator: config.operator.name ?? loginName(context.env),
    folder,
    config: config.path,
    store: store === 'sqlite' ? folder : withoutPassword(store),
    lab: labIn(config),
  };
}

function labIn({ lab, instances }: LoadedConfig): HomeLab | undefined {
  if (lab === undefined) return undefined;
  const { origin, host } = new URL(lab.url);
  const elsewhere = Object.entries(instances).filter(([, { url }]) => new URL(url).origin !== origin);
  return { place: host, elsewhere: elsewhere.map(([name]) => name) };
}

function withoutPassword(address: string): string {
  return address.replace(/^(\w+:\/\/[^/@:]*):[^@/]*@/u, '$1@');
}

/** Empty for an address that no client accepts: opening the instance reports what is wrong with it. */
function addressOf(url: string): { readonly address?: string } {
  const address = idOfInstance(url);
  return address === undefined ? {} : { address };
}
