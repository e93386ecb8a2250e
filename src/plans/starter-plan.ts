import { stringify } from 'yaml';
import type { Config, InstanceConfig } from '../config/schema.ts';

/**
 * A first plan: a group for each tag, in the order of the tags, and one for instances without a tag, each
 * after the one before. Undefined if no instance has a target. Pure.
 */
export function starterPlan(name: string, { instances }: Pick<Config, 'instances'>): string | undefined {
  const sources = Object.entries(instances).filter(([, { role }]) => role === 'source');
  const suffix = suffixOf(
    sources.map(([source]) => source),
    Object.entries(instances).flatMap(([target, { role }]) => (role === 'target' ? [target] : [])),
  );
  if (suffix === undefined) return undefined;
  const covered = sources.filter(([source]) => Object.hasOwn(instances, `${source}${suffix}`));
  const tags = [...new Set(covered.flatMap(([, config]) => config.tags[0] ?? []))].toSorted();
  const groups = [
    ...tags.map((tag): Part => {
      const tagged = covered.filter(([, config]) => config.tags[0] === tag);
      const all = sources.filter(([, config]) => config.tags.includes(tag));
      const names = tagged.map(([one]) => one);
      return { id: idOf(tag), for: all.length === tagged.length ? { tag } : { instances: names }, names };
    }),
    untagged(covered.filter(([, config]) => config.tags.length === 0).map(([one]) => one)),
  ].filter(({ names }) => names.length > 0);
  const written = groups.map(({ id, names, ...part }, at) => ({
    id,
    ...(at === 0 ? {} : { after: [groups[at - 1]?.id ?? ''] }),
    for: { ...part.for, target: `{name}${suffix}` },
    waves: names.length > 2 ? [1, '100%'] : ['100%'],
    maxConcurrency: Math.min(3, names.length),
    stopWhen: { failed: 1 },
    steps: [
      {
        id: 'recover',
        runbook: 'disaster-recovery',
        with: { phase: 'perform' },
        undo: 'none; the source is not changed, and the target can be deleted',
      },
    ],
  }));
  return `${HEAD}${stringify({ plan: name, objectives: objectivesOf(covered.map(([, config]) => config)), groups: written }, { lineWidth: 100 })}${REST}`;
}

/** The strictest of the instances; usual ones where none names any. */
function objectivesOf(covered: readonly Pick<InstanceConfig, 'objectives'>[]) {
  const strictest = (name: 'rto' | 'rpo') => {
    const given = covered.flatMap(({ objectives }) => objectives?.[name] ?? []);
    return given.length === 0 ? undefined : durationText(Math.min(...given));
  };
  return { rto: strictest('rto') ?? '4h', rpo: strictest('rpo') ?? '1h' };
}

/** In the largest unit that needs no fraction. */
function durationText(ms: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ] as const;
  const [unit, size] = units.find(([, size]) => ms >= size && ms % size === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

interface Part {
  readonly id: string;
  readonly for: { readonly tag: string } | { readonly instances: readonly string[] };
  readonly names: readonly string[];
}

function untagged(names: readonly string[]): Part {
  return { id: 'others', for: { instances: names }, names };
}

/**
 * The ending by which most sources find a target: `-dr` for `orders` and `orders-dr`. Looks each start of a
 * target up, so each of ten thousand targets takes as long as each of ten.
 */
function suffixOf(sources: readonly string[], targets: readonly string[]): string | undefined {
  const places = new Map(sources.map((source, at) => [source, at]));
  const counts = new Map<string, number>();
  const found = targets.flatMap((target, order) =>
    Array.from(target, (_, at) => at).flatMap((end) => {
      const place = places.get(target.slice(0, end));
      return place === undefined ? [] : [{ place, order, suffix: target.slice(end) }];
    }),
  );
  // Of two endings that are as common, the one of the first source counts.
  for (const { suffix } of found.toSorted((one, other) => one.place - other.place || one.order - other.order))
    counts.set(suffix, (counts.get(suffix) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0];
}

function idOf(tag: string): string {
  return (
    tag
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]/gu, '-')
      .replace(/^-+/u, '')
      .slice(0, 40) || 'group'
  );
}

const HEAD = `# Written by \`lifeboat plans init NAME\`. \`lifeboat plans check NAME\` checks it; \`lifeboat schema plan\` has every key.
# No token, key or password belongs in this file.
`;

const REST = `
# The recovery time ends with the last of these checks.
# healthy:
#   - { http: "https://orders.example.com/health" }

# Done at the end, also after a stop.
# finally:
#   steps:
#     - { id: tell, notify: { text: "the plan has ended" } }

# Who lets it start, how often it is rehearsed and evaluated.
# approve: { quorum: 2, within: 30m }
# drill: { every: 90d, into: "scratch-*" }
# evaluate: { every: 30m }
`;
