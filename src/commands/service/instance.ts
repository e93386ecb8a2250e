import type { Action as InstanceAction } from '../../activities/doubt-action.ts';
import { EXIT } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import type { InstanceOverview } from '../../service/schemas.ts';
import { changeInstance } from './change.ts';
import { askInstance, type InstanceFlags, printAnswer } from './on-instance.ts';
import type { ChangeFlags, Weight } from './planned-change.ts';
import { overviewFacts, printFacts } from './print-facts.ts';

/** `lifeboat instance show`: prints the overview (endpoint 12). */
export const instanceShow: Action<InstanceFlags> = async (context, _, flags) => {
  const answer = await askInstance(context, flags, ({ service }) => service.overview());
  await printAnswer(context, 'instance', answer, () => printOverview(context, answer.value));
  return EXIT.closed;
};

/** `lifeboat instance restart` (endpoint 14). */
export const instanceRestart = acting('restart', 'changes', [
  'the database is down while it restarts; connections are cut',
]);

/** `lifeboat instance recreate` (endpoint 13): rebuilds the instance's machines, so it asks for the name. */
export const instanceRecreate = acting('recreate', 'destroys', [
  'the service rebuilds the machines of the instance; the database is down meanwhile',
  'create a backup first, if there is none that is proven',
]);

/** `lifeboat instance update` (endpoint 15): starts the pending maintenance updates. */
export const instanceUpdate = acting('update', 'changes', [
  'an update cannot be undone; the database is down while it runs',
]);

function acting(action: InstanceAction, weight: Weight, warnings: readonly string[]) {
  return (context: CommandContext, _: readonly string[], flags: ChangeFlags): Promise<number> =>
    changeInstance(context, flags, ({ instance }) => ({
      single: { change: action, setsKey: false },
      weight,
      title: () => `${action} ${instance.name}`,
      warnings: ({ preflight: { facts } }) => [
        ...warnings,
        ...(action === 'update' ? [`pending: ${pendingOf(facts?.baseline.updates)}`] : []),
      ],
      done: () => ({ fields: {}, text: `the service accepted the ${action}` }),
      show: async ({ available: { ready } }, { service, name }) => {
        if (ready?.reason !== undefined) context.stderr.write(`${show(ready.reason)}\n`);
        const { value, raw } = await service.overview();
        await printAnswer(context, 'instance', { instance: name, raw }, () => printOverview(context, value));
      },
    }));
}

function pendingOf(updates: readonly string[] | undefined): string {
  return updates === undefined || updates.length === 0
    ? 'nothing that the service reports'
    : updates.join(', ');
}

/** `lifeboat instance settings`: allows or forbids maintenance updates (`broker/edit`, revision 61). */
export const instanceSettings: Action<
  ChangeFlags & { readonly allowUpdates: string; readonly type: string }
> = (context, _, flags) => {
  const allowed = flags.allowUpdates === 'true';
  const setting = { type: flags.type, allowed };
  return changeInstance(context, flags, ({ instance }) => ({
    single: { change: 'changeUpdateSetting', setsKey: false, setting },
    weight: 'changes',
    title: () => `${allowed ? 'allow' : 'forbid'} maintenance updates of ${instance.name}`,
    warnings: () =>
      allowed
        ? ['the service does not report this setting: somebody may have forbidden updates on purpose']
        : ['no update, and no security fix, is installed by itself until they are allowed again'],
    done: () => ({
      fields: { settings: { type: flags.type, updatesAllowed: allowed } },
      text: `maintenance updates are ${allowed ? 'allowed' : 'forbidden'}`,
    }),
  }));
};

function printOverview(context: CommandContext, overview: InstanceOverview): void {
  printFacts(context, overviewFacts(overview));
}
