import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { Journal, JournalReader } from '../store/journal.ts';
import { ledgerNamesOf } from '../store/projections/instance-names.ts';
import { readPending } from '../store/projections/pending-calls.ts';
import type { Named } from '../store/projections/runs.ts';
import { assertNotRenamed, blocksOtherChanges } from './assert-not-in-doubt.ts';
import { openRunsOn, runIsOpen } from './runs.ts';

const PREFIX = 'instance/';

/**
 * Refuses to change an instance under another name than the store has for its address (`instance.other-name`,
 * exit 2): its one ledger makes people exclude each other whose configs name it differently. A call in doubt
 * (`call.in-doubt`, exit 5) or an open run (`run.open`, exit 3) under that name is reported instead.
 */
export async function assertSameName(
  journal: Pick<JournalReader, 'read' | 'rows' | 'head'>,
  named: Named,
): Promise<void> {
  await isKnownByName(journal, named);
}

/** Rejects if the store knows the instance by another name. */
async function isKnownByName(
  journal: Pick<JournalReader, 'read' | 'rows' | 'head'>,
  named: Named,
): Promise<boolean> {
  const known = (await ledgerNamesOf(journal, [named.url]))(named.url);
  if (known === undefined) return false;
  if (known === named.instance) return true;
  await assertNotRenamed(journal, (await readPending(journal)).filter(blocksOtherChanges), [named]);
  const other = otherName(named.instance, known);
  const [open] = await openRunsOn(journal, [], [named]);
  throw open === undefined ? other : runIsOpen(open, named.instance, { more: [other.shortMessage] });
}

/** The error if the store knows an instance by the name `known`, and the config by another. */
export function otherName(name: string, known: string): LifeboatError {
  return new LifeboatError(
    'instance.other-name',
    `${show(name)} is ${show(known)}: the store knows the instance at this address by that name`,
    {
      hints: [
        'nothing was changed: what is on record about it, and who works on it, is kept under that name',
        `name it so in lifeboat.yaml, with the same url: ${show(known)}`,
        'reading goes on under either name',
      ],
      exitCode: EXIT.usage,
    },
  );
}

/**
 * Refuses to hold a ledger under a second name of its instance. `instances` are those of the config; a ledger
 * of an instance that is not in it can be held under any name.
 */
export function withOneName(
  journal: Journal,
  instances: Readonly<Record<string, { readonly url: string }>>,
): Journal {
  // The name of an address never changes.
  const confirmed = new Set<string>();
  return {
    ...journal,
    hold: async (stream) => {
      const hold = await journal.hold(stream);
      const instance = stream.startsWith(PREFIX) ? stream.slice(PREFIX.length) : '';
      const config = Object.hasOwn(instances, instance) ? instances[instance] : undefined;
      if (config === undefined || confirmed.has(instance)) return hold;
      try {
        if (await isKnownByName(journal, { instance, url: config.url })) confirmed.add(instance);
        return hold;
      } catch (thrown) {
        await hold.release();
        throw thrown;
      }
    },
  };
}
