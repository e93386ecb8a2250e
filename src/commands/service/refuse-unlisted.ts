import { EXIT, failureOf, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { ServiceClient } from '../../service/client.ts';
import type { OpenCall } from '../../store/projections/pending-calls.ts';
import { taskOf } from './call-outcome.ts';
import { candidateLines } from './candidate-lines.ts';
import { type InstanceFlags, onInstance } from './on-instance.ts';

const SHOWN = 10;

/**
 * Refuses an id that a call cannot have become (`usage.became`, exit 2): it is none of those that the service
 * showed when it was asked, and not in its list now. A service that cannot be asked proves nothing: then it
 * is a warning. What becomes of a restart, recreate or update has no id.
 */
export async function refuseUnlisted(
  context: CommandContext,
  flags: InstanceFlags,
  call: OpenCall,
  became: number,
): Promise<void> {
  const list = LISTS[taskOf(call.verb)];
  const candidates = call.unclear?.evidence['candidates'];
  const known = Array.isArray(candidates)
    ? candidates.map((one) => (one as { readonly id?: unknown } | null)?.id)
    : [];
  if (list === undefined || known.includes(became)) return;
  let listed: Awaited<ReturnType<typeof list.read>>['value'];
  try {
    listed = (await onInstance(context, flags, ({ service }) => list.read(service))).value;
  } catch (thrown) {
    const why = failureOf(thrown).shortMessage;
    context.stderr.write(
      `warning: the service could not be asked whether ${became} is there: ${show(why)}\n`,
    );
    return;
  }
  if (listed.some(({ id }) => id === became)) return;
  const newest = listed.toSorted((one, other) => other.id - one.id).slice(0, SHOWN);
  throw new LifeboatError(
    'usage.became',
    `the service lists no ${list.what} ${became}; nothing was resolved`,
    {
      hints: [
        ...candidateLines(call.unclear, list.what),
        newest.length === 0
          ? `it lists no ${list.what} at all`
          : `it lists: ${newest.map(({ id, status }) => `${id} (${show(status, 20)})`).join(', ')}`,
      ],
      exitCode: EXIT.usage,
    },
  );
}

interface List {
  readonly what: string;
  readonly read: (
    service: ServiceClient,
  ) => Promise<{ readonly value: readonly { readonly id: number; readonly status: string }[] }>;
}

/** Where what a call becomes is listed. */
const LISTS: Readonly<Record<ReturnType<typeof taskOf>, List | undefined>> = {
  backup: { what: 'backup', read: (service) => service.backups() },
  restore: { what: 'restore', read: (service) => service.restores() },
  task: undefined,
};
