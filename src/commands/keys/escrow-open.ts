import { resolve } from 'node:path';
import { EXIT, failureOf, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, type ResultOf } from '../../cli/print-result.ts';
import { type Copies, copiesIn, openCopies } from '../../compose/escrow.ts';
import { openWorkspace, type Workspace, workspaceFor } from '../../compose/workspace.ts';
import { instanceNamed, loadConfig } from '../../config/load.ts';
import type { EscrowPlace, LoadedConfig } from '../../config/loaded.ts';
import { identities } from './escrow-prove.ts';
import { fitAll } from './fit-all.ts';

interface OpenFlags {
  readonly instance?: string;
  readonly from?: string;
  readonly identity?: string;
  readonly fit?: boolean;
}

/**
 * `lifeboat keys escrow open`: on a machine without the keys, opens every sealed copy with this person's
 * identity and puts the keys into the key store: each checked by its fingerprint, then by the backups that it
 * opens. Exit 1 when a key did not come back.
 */
export const escrowOpen: Action<OpenFlags> = async (context, _, { instance, from, identity, fit = true }) => {
  const config = await loadConfig(context.env, context.configPath);
  if (instance !== undefined) instanceNamed(config, instance);
  const places = placesFrom(config, from);
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    const { keyring, journal } = workspace;
    const names = instance === undefined ? undefined : [instance];
    const own = await identities(keyring.store, identity);
    const copies = await copiesIn(places, journal, names ?? Object.keys(config.instances));
    const all = instance === undefined ? await withForeign(places, copies) : copies;
    for (const { place, why } of all.unread)
      context.stderr.write(`warning: ${show(place, 200)} could not be read: ${show(why, 300)}\n`);
    const { opened, failed } = await openCopies(all.copies, own, {
      keyring,
      guard: (secret) => journal.guard(secret),
    });
    const back = new Set(opened.map((one) => `${one.instance}/${one.fingerprint}`));
    const lost = failed.filter((one) => !back.has(`${one.instance}/${one.fingerprint}`));
    const fits = fit ? await fitsOf(context, config, workspace, opened) : new Map<string, number>();
    const result = {
      keptIn: keyring.store.description,
      opened: opened.map((one) => ({ ...one, fits: fits.get(`${one.instance}/${one.fingerprint}`) })),
      failed,
      broken: all.broken,
    };
    await printResult(context, 'escrow-open', result, () => printOpened(context, result));
    if (opened.length === 0 && failed.length === 0)
      throw new LifeboatError('escrow.none', 'there is no sealed copy in these places', {
        hints: [
          'name the folder with --from FOLDER',
          `looked in: ${places.map(({ name }) => name).join(', ')}`,
        ],
      });
    return lost.length === 0 && all.unread.length === 0 ? EXIT.closed : EXIT.failed;
  } finally {
    await workspace.close();
  }
};

function placesFrom(config: LoadedConfig, from: string | undefined): readonly EscrowPlace[] {
  if (from !== undefined) return [{ name: from, folder: from === 'store' ? undefined : resolve(from) }];
  const { escrow } = config.keys;
  if (escrow !== undefined) return escrow.places;
  throw new LifeboatError('config.escrow', `${show(config.path, 200)} names no place of sealed copies`, {
    hints: ['name the folder with --from FOLDER, or `--from store`'],
    exitCode: EXIT.usage,
  });
}

/** A folder may have copies of instances that this config does not name: these come back as well. */
async function withForeign(places: readonly EscrowPlace[], known: Copies): Promise<Copies> {
  const folders = places.filter(({ folder }) => folder !== undefined);
  const whole = await copiesIn(folders, undefined, undefined);
  const inStore = known.copies.filter(({ path }) => path === undefined);
  return { copies: [...whole.copies, ...inStore], broken: whole.broken, unread: known.unread };
}

/** How many listed backups each key opens; nothing where the service does not answer. */
async function fitsOf(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
  opened: readonly { readonly instance: string; readonly fingerprint: string }[],
): Promise<ReadonlyMap<string, number>> {
  const names = [...new Set(opened.map(({ instance }) => instance))].filter((name) =>
    Object.hasOwn(config.instances, name),
  );
  const counts = new Map<string, number>();
  try {
    for (const { instance, fits, failed } of await fitAll(context, config, workspace, names)) {
      if (failed !== undefined) {
        context.stderr.write(`warning: no backup of ${instance} was tried: ${show(failed.why, 200)}\n`);
        continue;
      }
      for (const one of opened.filter((key) => key.instance === instance))
        counts.set(`${instance}/${one.fingerprint}`, 0);
      for (const fit of fits) {
        if (fit.fit !== 'fits') continue;
        const name = `${fit.heldFor ?? instance}/${fit.fingerprint}`;
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    }
  } catch (thrown) {
    context.stderr.write(`warning: no backup was tried: ${show(failureOf(thrown).shortMessage, 200)}\n`);
  }
  return counts;
}

function printOpened(
  { stdout, stderr }: CommandContext,
  { keptIn, opened, failed, broken }: Omit<ResultOf<'escrow-open'>, 'schema'>,
): void {
  for (const { instance, fingerprint, place, isNew, fits } of opened) {
    const found = fits === undefined ? '' : `; it fits ${fits} of the listed backups`;
    const how = isNew ? 'came back' : 'was held already';
    stdout.write(`key ${fingerprint} of ${instance} ${how}, from ${show(place, 200)}${found}\n`);
  }
  for (const { instance, fingerprint, place, path, why } of failed)
    stdout.write(
      `NOT opened: key ${fingerprint} of ${instance} in ${show(path ?? place, 300)}: ${show(why, 300)}\n`,
    );
  for (const { path, why } of broken) stdout.write(`BROKEN: ${show(path, 300)}: ${show(why, 200)}\n`);
  stderr.write(`kept in: ${keptIn}\n`);
}
