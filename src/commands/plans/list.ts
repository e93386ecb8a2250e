import { EXIT, LifeboatError } from '../../base/errors.ts';
import { counted } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, printTable, type ResultOf } from '../../cli/print-result.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { resolvePlan } from '../../plans/resolve.ts';
import { planNamed, planNames, plansFolder, surroundingsOf } from './plan-files.ts';

/** `lifeboat plans list`: the plan files beside lifeboat.yaml. Exit 1 when one of them has mistakes. */
export const plansList: Action<object> = async (context) => {
  const config = await loadConfig(context.env, context.configPath);
  const items = await Promise.all(planNames(config).map((name) => rowOf(config, name)));
  await printResult(context, 'plans', { items }, () => {
    if (items.length === 0)
      context.stdout.write(
        `there is no plan in ${show(plansFolder(config), 200)}; to write one: lifeboat plans init NAME\n`,
      );
    else
      printTable(
        context,
        [
          { title: 'plan' },
          { title: 'instances', align: 'right' },
          { title: 'groups', align: 'right' },
          { title: 'about', gives: true },
        ],
        items.map(({ plan, instances, groups, about, problem }) => [
          plan,
          instances === undefined ? '?' : String(instances),
          groups === undefined ? '?' : String(groups),
          problem ?? show(about ?? ''),
        ]),
      );
  });
  return items.some(({ problem }) => problem !== undefined) ? EXIT.failed : EXIT.closed;
};

async function rowOf(config: LoadedConfig, name: string): Promise<ResultOf<'plans'>['items'][number]> {
  try {
    const { plan } = await planNamed(config, name);
    const { groups, misfits } = resolvePlan(plan, surroundingsOf(config));
    const instances = new Set(
      groups.flatMap((one) => (one.for === undefined ? [] : one.lanes.map((lane) => lane.name))),
    );
    return {
      plan: name,
      instances: instances.size,
      groups: groups.length,
      ...(plan.about === undefined ? {} : { about: plan.about }),
      ...(misfits.length === 0
        ? {}
        : { problem: `${counted(misfits.length, 'mistake')}: lifeboat plans check ${name}` }),
    };
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError)) throw thrown;
    return { plan: name, problem: thrown.shortMessage };
  }
}
