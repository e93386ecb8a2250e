import { show } from '../../base/text.ts';
import { copiesIn } from '../../compose/escrow.ts';
import type { Workspace } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { identityIn } from '../../keys/identity.ts';
import { candidates, currentKey } from '../../store/projections/key-epochs.ts';
import { readLedger } from '../../store/projections/ledgers.ts';
import type { RunProgress } from '../../store/projections/runs.ts';

interface May {
  readonly config: LoadedConfig;
  readonly workspace: Pick<Workspace, 'journal' | 'keyring'>;
  /** Tags of which an instance has to have one; empty takes them all. */
  readonly labels: readonly string[];
}

/**
 * Undefined if the worker may take the run: the config names its instances, they have a label, and key store
 * or identity opens the key in force, or that of the recovery card where none is known to be in force. Of a
 * target too: what is recovered into it is backed up under that. Asked before any hold. Rejects with the key
 * store's errors.
 */
export async function refusalOf(
  { config, workspace, labels }: May,
  run: RunProgress,
): Promise<string | undefined> {
  // The run of a plan calls no instance, and a step of it that is no runbook none of the config.
  if (run.runbook === 'plan' || run.runbook === 'plan-step') return undefined;
  const names = [run.instance, ...(run.target === undefined ? [] : [run.target])];
  const unknown = names.find((name) => config.instances[name] === undefined);
  if (unknown !== undefined) return `${show(unknown)} is not in ${show(config.path, 200)}`;
  const tags = names.flatMap((name) => config.instances[name]?.tags ?? []);
  if (labels.length > 0 && !labels.some((label) => tags.includes(label)))
    return `none of its instances is tagged ${labels.map((label) => show(label)).join(' or ')}`;
  for (const instance of names) {
    const lack = await lackOfKey({ config, workspace }, { instance, runbook: run.runbook });
    if (lack !== undefined) return lack;
  }
  return undefined;
}

/** The runbook that is blocked at its beginning without any key of the instance: it opens a backup. */
const OPENS = 'back-up-and-verify';
const RECOVERS = 'disaster-recovery';

/** The key that may be in force and that this worker cannot open, in words. */
async function lackOfKey(
  { config, workspace: { journal, keyring } }: Pick<May, 'config' | 'workspace'>,
  { instance, runbook }: Pick<RunProgress, 'instance' | 'runbook'>,
): Promise<string | undefined> {
  const { epochs, card } = await readLedger(journal, instance);
  const current = currentKey(epochs);
  // While none is known to be in force, a recovery asks for the one that its card names, and not for any.
  const carded = runbook === RECOVERS && current === undefined ? card?.fingerprint : undefined;
  const known = (current === undefined ? candidates(epochs) : [current]).map(
    ({ fingerprint }) => fingerprint,
  );
  const keys = carded === undefined ? known : [carded];
  const held = await keyring.list(instance);
  const store = show(keyring.store.description, 200);
  if (keys.length === 0)
    return runbook === OPENS && held.length === 0
      ? `no key of ${show(instance)} is on record, and none is in ${store}`
      : undefined;
  if (keys.some((key) => held.includes(key))) return undefined;
  const { escrow } = config.keys;
  const own = escrow === undefined ? undefined : await identityIn(keyring.store);
  if (escrow !== undefined && own !== undefined) {
    const { copies } = await copiesIn(escrow.places, journal, [instance]);
    const opens = copies.some(
      ({ copy }) => keys.includes(copy.fingerprint) && copy.recipients.includes(own.recipient),
    );
    if (opens) return undefined;
  }
  return `key ${keys.join(' or ')} of ${show(instance)} is not in ${store}, and nothing here opens it`;
}
