import { counted, formatTime } from '../../base/format.ts';
import type { CommandContext } from '../../cli/context.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import type { LoadedConfig, NotifyConfig } from '../../config/loaded.ts';
import { addressOf } from '../../notify/send.ts';
import { type KnownTarget, readGivenUp, readTargets } from '../../store/projections/outbox.ts';
import { sentWords } from '../notify/notify.ts';
import { attempt, type Check, good } from './check.ts';

/** More are not counted. */
const MAX_GIVEN_UP = 1000;

/** Whether each target can be reached as configured, and the result of the last attempt. Sends nothing. */
export async function notifyChecks(
  context: CommandContext,
  { notify }: Pick<LoadedConfig, 'notify'>,
): Promise<Check[]> {
  if (notify.length === 0) return [];
  const record = await attempt('notify', async () => {
    const journal = await openJournalIfAny(context);
    try {
      if (journal === undefined) return { targets: [], givenUp: 0 };
      const givenUp = (await readGivenUp(journal, MAX_GIVEN_UP)).length;
      return { targets: await readTargets(journal), givenUp };
    } finally {
      await journal?.close();
    }
  });
  if ('check' in record) return [record.check];
  const { targets, givenUp } = record.value;
  const checks = notify.map((target) =>
    targetCheck(
      target,
      targets.find(({ name }) => name === target.name),
    ),
  );
  const left: Check = {
    what: 'notify',
    state: 'warn',
    found: `${counted(givenUp, 'notification')} given up after many attempts`,
    hints: ['try them again: lifeboat notify send --all'],
  };
  return [...(await Promise.all(checks)), ...(givenUp === 0 ? [] : [left])];
}

async function targetCheck(target: NotifyConfig, known: KnownTarget | undefined): Promise<Check> {
  const what = `notify: ${target.name}`;
  const hints = [`try it: lifeboat notify test ${target.name}`];
  const found = await attempt(what, async () => ('url' in target ? addressOf(target) : undefined));
  // A recovery does not depend on it.
  if ('check' in found) return { ...found.check, state: 'warn' };
  const last = known?.last;
  if (last === undefined) return { ...good(what, 'nothing has been sent yet'), hints };
  const words = `last attempt ${formatTime(last.at)} UTC, ${sentWords(last)}`;
  return last.outcome === 'delivered' ? good(what, words) : { what, state: 'warn', found: words, hints };
}
