import { isoOf } from '../../base/date.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { durationFrom } from '../../cli/numbers.ts';
import { printResult } from '../../cli/print-result.ts';
import { type MayDestroy, mayDestroy } from '../../compose/may-destroy.ts';
import { openInstance } from '../../compose/service-of.ts';
import { openWorkspace, type Workspace, workspaceFor } from '../../compose/workspace.ts';
import { homeFolder } from '../../config/find.ts';
import { chosenInstance, loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { appendHolding } from '../../runner/holds.ts';
import { custodyEntry, scheduledKeys } from '../../store/projections/custody.ts';
import { readLedger, readLedgers } from '../../store/projections/ledgers.ts';
import { confirmTyped } from '../store/confirm.ts';
import { fitAll } from './fit-all.ts';
import { keysWithCustody } from './show.ts';

interface Named {
  readonly instance?: string;
}

interface OneKey {
  readonly context: CommandContext;
  readonly config: LoadedConfig;
  readonly workspace: Workspace;
  readonly instance: string;
  readonly fingerprint: string;
}

/** Opens the workspace for a command about one key, which is named by the beginning of its fingerprint. */
async function withKey(
  context: CommandContext,
  [start = '']: readonly string[],
  named: Named,
  act: (key: OneKey) => Promise<number>,
): Promise<number> {
  const config = await loadConfig(context.env, context.configPath);
  const instance = chosenInstance(config, named.instance);
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    await destroyDue(context, config, workspace);
    const keys = await keysWithCustody(context, config, workspace, instance);
    const meant = keys.flatMap(({ fingerprint }) =>
      fingerprint !== undefined && start !== '' && fingerprint.startsWith(start) ? [fingerprint] : [],
    );
    const [fingerprint] = meant;
    if (fingerprint !== undefined && meant.length === 1)
      return await act({ context, config, workspace, instance, fingerprint });
    const what =
      meant.length > 1 ? `${meant.length} keys of ${instance} begin with` : `${instance} has no key`;
    throw new LifeboatError('usage.fingerprint', `${what} ${show(start, 40)}`, {
      hints: ['nothing was changed', `\`lifeboat keys show ${instance}\` lists its keys`],
      exitCode: EXIT.usage,
    });
  } finally {
    await workspace.close();
  }
}

/** `lifeboat keys may-destroy FINGERPRINT`: every known reason against it. Exit 0 for none, 1 otherwise. */
export const keysMayDestroy: Action<Named> = async (context, args, named) =>
  withKey(context, args, named, async (key) => {
    const { instance, fingerprint, config, workspace } = key;
    const found = await askMay(key);
    const rows = await keysWithCustody(context, config, workspace, instance);
    const custody = rows.find((row) => row.fingerprint === fingerprint)?.custody ?? 'unknown';
    const may = found.against.length === 0;
    const reasons = [...found.against];
    const result = { instance, fingerprint, may, reasons, custody, from: found.from };
    await printResult(context, 'may-destroy', result, () => {
      context.stdout.write(
        `key ${fingerprint} of ${instance} ${may ? 'may be destroyed' : 'may NOT be destroyed'}\n`,
      );
      for (const { text } of found.against) context.stdout.write(`  ${show(text, 400)}\n`);
      if (found.from !== undefined)
        context.stdout.write(
          `the last of these backups runs out on ${formatTime(found.from)} UTC, if the service keeps to its retention\n`,
        );
    });
    return may ? EXIT.closed : EXIT.failed;
  });

/** Asks everything that could be against the destruction of a key, now. */
async function askMay({ context, config, workspace, instance, fingerprint }: OneKey): Promise<MayDestroy> {
  const [fits] = await fitAll(context, config, workspace, [instance]);
  if (fits === undefined) throw new Error('one instance was asked');
  const { journal, keyring } = workspace;
  return await mayDestroy({
    ...{ config, journal, keyring, instance, fingerprint, fits },
    home: homeFolder(context.env),
    retentionDays: await retentionOf(config, workspace, instance),
  });
}

async function retentionOf(config: LoadedConfig, { keyring }: Workspace, instance: string) {
  try {
    await using opened = await openInstance(config, instance, { store: async () => keyring.store });
    const { value } = await opened.service.backupsConfig();
    return value.retention_time ?? undefined;
  } catch (thrown) {
    if (thrown instanceof LifeboatError) return undefined;
    throw thrown;
  }
}

interface RetireFlags extends Named {
  readonly reason?: string;
  readonly compromised?: boolean;
  readonly undo?: boolean;
}

/** `lifeboat keys retire FINGERPRINT`: the key is not offered until `--undo`. Nothing is deleted. */
export const keysRetire: Action<RetireFlags> = async (context, args, flags) =>
  withKey(context, args, flags, async ({ workspace, instance, fingerprint }) => {
    const { reason, compromised = false, undo = false } = flags;
    if (!undo && reason === undefined)
      throw new LifeboatError('usage.reason', 'a key is retired for a reason, which goes on record', {
        hints: ['nothing was changed', 'add --reason TEXT'],
        exitCode: EXIT.usage,
      });
    const { epochs } = await readLedger(workspace.journal, instance);
    const inForce = epochs.some(
      (one) => one.fingerprint === fingerprint && one.setAt !== undefined && one.endedAt === undefined,
    );
    if (!undo && !compromised && inForce)
      throw new LifeboatError('keys.in-force', `key ${fingerprint} is in force on ${instance}`, {
        hints: [
          'nothing was changed',
          `set another one first: lifeboat run rotate-key --instance ${instance}`,
        ],
      });
    const entry = undo
      ? custodyEntry(instance, 'custody.offered', {
          fingerprint,
          ...(reason === undefined ? {} : { reason }),
        })
      : custodyEntry(instance, 'custody.retired', { fingerprint, reason: reason ?? '', compromised });
    await appendHolding(workspace.journal, [entry]);
    const became = undo ? 'offered' : 'retired';
    await printResult(context, 'key-end', { instance, fingerprint, became }, () => {
      const words = undo
        ? 'is offered again'
        : compromised
          ? 'is retired as COMPROMISED'
          : 'is retired: it is not offered any more';
      context.stdout.write(`key ${fingerprint} of ${instance} ${words}\n`);
      if (!undo && compromised && inForce)
        context.stderr.write(`hint: it is still in force: lifeboat run rotate-key --instance ${instance}\n`);
    });
    return EXIT.closed;
  });

interface DestroyFlags extends Named {
  readonly in?: string;
  readonly cancel?: boolean;
  readonly force?: boolean;
  readonly because?: string;
  readonly confirm?: string;
}

const DEFAULT_DAYS = 30;

/**
 * `lifeboat keys destroy FINGERPRINT`: schedules it; a later command destroys the key when due and nothing is
 * against it then. Exit 1 while something is against it, without `--force --because`.
 */
export const keysDestroy: Action<DestroyFlags> = async (context, args, flags) =>
  withKey(context, args, flags, async (key) => {
    if (flags.cancel === true) return await cancel(key, flags.because);
    const { workspace, instance, fingerprint } = key;
    if (flags.force === true && flags.because === undefined)
      throw new LifeboatError('usage.reason', '--force goes on record with its reason', {
        hints: ['nothing was changed', 'add --because TEXT'],
        exitCode: EXIT.usage,
      });
    const { custody } = await readLedger(workspace.journal, instance);
    const { scheduled, destroyed } = custody?.keys[fingerprint] ?? {};
    if (destroyed !== undefined)
      throw new LifeboatError('keys.destroyed', `key ${fingerprint} is destroyed already`, { hints: [] });
    if (scheduled !== undefined)
      throw new LifeboatError(
        'keys.scheduled',
        `the destruction of key ${fingerprint} is scheduled already, for ${formatTime(scheduled.due)} UTC`,
        { hints: [`cancel it: lifeboat keys destroy ${fingerprint} -i ${instance} --cancel`] },
      );
    const { against } = await askMay(key);
    if (against.length > 0 && flags.force !== true) throw needed(key, against);
    for (const { text } of against) context.stderr.write(`against it: ${show(text, 400)}\n`);
    await confirmTyped(context, {
      ...{ word: fingerprint, given: flags.confirm, area: 'keys' },
      what: `the destruction of key ${fingerprint} of ${instance}`,
    });
    const ms =
      flags.in === undefined ? DEFAULT_DAYS * 86_400_000 : durationFrom(flags.in, 'in', ['1h', '3650d']);
    const due = isoOf(Date.now() + ms);
    const forced =
      flags.force === true && flags.because !== undefined
        ? { because: flags.because, against: against.map(({ text }) => text) }
        : {};
    await appendHolding(workspace.journal, [
      custodyEntry(instance, 'custody.scheduled', { fingerprint, due, ...forced }),
    ]);
    await printResult(context, 'key-end', { instance, fingerprint, became: 'scheduled', due }, () => {
      context.stdout.write(
        `key ${fingerprint} of ${instance} is to be destroyed from ${formatTime(due)} UTC on\n`,
      );
      context.stderr.write(`until then: lifeboat keys destroy ${fingerprint} -i ${instance} --cancel\n`);
    });
    return EXIT.closed;
  });

function needed({ instance, fingerprint }: OneKey, against: MayDestroy['against']): LifeboatError {
  const [first] = against;
  return new LifeboatError('keys.needed', `key ${fingerprint} may not be destroyed: ${first?.text ?? ''}`, {
    hints: [
      'nothing was changed',
      `all reasons, and the day from which it may: lifeboat keys may-destroy ${fingerprint} -i ${instance}`,
      `retiring it is reversible: lifeboat keys retire ${fingerprint} -i ${instance} --reason TEXT`,
    ],
    evidence: { against: against.map(({ code }) => code) },
  });
}

async function cancel({ context, workspace, instance, fingerprint }: OneKey, because: string | undefined) {
  const { custody } = await readLedger(workspace.journal, instance);
  if (custody?.keys[fingerprint]?.scheduled === undefined)
    throw new LifeboatError('keys.not-scheduled', `no destruction of key ${fingerprint} is scheduled`, {
      hints: ['nothing was changed'],
    });
  const entry = custodyEntry(instance, 'custody.cancelled', { fingerprint, reason: because ?? 'cancelled' });
  await appendHolding(workspace.journal, [entry]);
  await printResult(context, 'key-end', { instance, fingerprint, became: 'cancelled' }, () => {
    context.stdout.write(`the destruction of key ${fingerprint} of ${instance} is cancelled\n`);
  });
  return EXIT.closed;
}

/**
 * Destroys the keys that are due and that nothing needs: the key leaves this key store, its record stays.
 * What is against it now keeps it, and is told. If the process dies between the two, the key is gone and its
 * schedule is carried out again. Rejects with nothing but the errors of the key store.
 */
export async function destroyDue(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
): Promise<void> {
  const now = Date.now();
  for (const [instance, { custody }] of await readLedgers(workspace.journal)) {
    if (!Object.hasOwn(config.instances, instance)) continue;
    for (const { fingerprint, scheduled } of scheduledKeys(custody)) {
      if (msOf(scheduled.due) > now) continue;
      const key = { context, config, workspace, instance, fingerprint };
      const { against } = await askMay(key);
      const left = scheduled.because === undefined ? against.filter(({ code }) => code !== 'not-held') : [];
      if (left.length > 0) {
        context.stderr.write(
          `warning: key ${fingerprint} of ${instance} is due to be destroyed, and is kept: ${show(left[0]?.text ?? '', 300)}\n`,
        );
        continue;
      }
      await workspace.keyring.remove(instance, fingerprint);
      const { because } = scheduled;
      const store = workspace.keyring.store.description;
      await appendHolding(workspace.journal, [
        custodyEntry(instance, 'custody.destroyed', {
          ...{ fingerprint, store },
          ...(because === undefined ? {} : { because }),
        }),
      ]);
      context.stderr.write(`key ${fingerprint} of ${instance} was destroyed, as scheduled\n`);
    }
  }
}
