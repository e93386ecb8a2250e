import { failureOf } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { addressFrom } from '../../service/address.ts';
import { proxyFor, unreadNetworks } from '../../service/proxies.ts';
import { type Check, good } from './check.ts';

const PROXY = 'proxy';

/**
 * The proxy by which each instance, and the platform, is reached; empty if the environment names none. The
 * checks of the instances show how the proxy answers. Only reads.
 */
export function proxyChecks({ instances, platform }: LoadedConfig): Check[] {
  const origins = Object.entries(instances).map(
    ([name, { url }]) => [name, addressFrom(url).origin] as const,
  );
  if (typeof platform !== 'string') origins.push(['platform', platform.api]);
  const by = new Map<string, string[]>();
  const unusable: Check[] = [];
  for (const [name, origin] of origins) {
    const found = wayTo(origin);
    if (typeof found === 'string') by.set(found, [...(by.get(found) ?? []), name]);
    else unusable.push({ what: `${name}: ${PROXY}`, state: 'bad', ...found });
  }
  const isNone = [...by.keys()].every((way) => way === DIRECT);
  const ways = isNone && unusable.length === 0 ? [] : [...by];
  const unread = unreadNetworks();
  return [
    ...unusable,
    ...ways.map(([way, names]) => good(PROXY, `${way}: ${names.map((name) => show(name, 80)).join(', ')}`)),
    ...(unread.length === 0
      ? []
      : [
          {
            what: PROXY,
            state: 'warn' as const,
            found: `NO_PROXY has what is no network, and covers nothing: ${show(unread.join(', '), 200)}`,
            hints: ['a network is written as 192.0.2.0/24'],
          },
        ]),
  ];
}

const DIRECT = 'none';

function wayTo(origin: string): string | Pick<Check, 'found' | 'hints'> {
  try {
    const proxy = proxyFor(origin);
    return proxy === undefined ? DIRECT : `${show(proxy.shown, 200)} (${proxy.variable})`;
  } catch (thrown) {
    const { shortMessage, hints } = failureOf(thrown);
    return { found: shortMessage, hints };
  }
}
