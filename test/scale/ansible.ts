import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressFrom } from '../../src/service/address.ts';

/** As many hosts at once as a worker takes runs. */
const FORKS = 8;

interface Config {
  readonly lab: { readonly token: { readonly file: string } };
  readonly instances: Readonly<Record<string, { readonly url: string; readonly target?: string }>>;
}

/**
 * What ansible-playbook needs for the calls of a recovery, as six `uri` tasks for each of so many hosts: what
 * the instance is, its backups, a recovery card, and what its target is, has and has restored. Against the
 * lab of this config (`folder`/lifeboat.yaml). Rejects where a task fails, or the program is not installed.
 */
export async function besideAnsible(
  folder: string,
  hosts: number,
): Promise<{ readonly seconds: number; readonly processorSeconds: number }> {
  const { lab, instances } = JSON.parse(readFileSync(join(folder, 'lifeboat.yaml'), 'utf8')) as Config;
  const authorization = readFileSync(lab.token.file, 'utf8').trim();
  const baseOf = (name: string | undefined) => addressFrom(instances[name ?? '']?.url ?? '').v1;
  const named = Object.entries(instances).filter(([, { target }]) => target !== undefined);
  const inventory = named
    .slice(0, hosts)
    .map(([name, { target }]) => [name, { base: baseOf(name), other: baseOf(target) }]);
  const uri = (name: string, url: string, more = {}) => ({
    name,
    uri: { url, headers: { Authorization: authorization }, return_content: true, ...more },
  });
  const posted = { method: 'POST', body_format: 'json', body: {}, status_code: [200, 202] };
  const play = {
    hosts: 'all',
    connection: 'local',
    gather_facts: false,
    tasks: [
      uri('what it is', '{{ base }}'),
      uri('its backups', '{{ base }}/backups'),
      uri('a recovery card', '{{ base }}/disaster-recovery/prepare', posted),
      uri('what its target is', '{{ other }}'),
      uri('the backups of its target', '{{ other }}/backups'),
      uri('the restores of its target', '{{ other }}/restores'),
    ],
  };
  const write = (name: string, content: unknown) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
    return path;
  };
  const words = [
    ...['-i', write('hosts.json', { all: { hosts: Object.fromEntries(inventory) } })],
    ...['--forks', String(FORKS), write('play.json', [play])],
  ];
  const began = performance.now();
  // The shell counts what the playbook's own processes have used as well.
  const child = spawn(
    'bash',
    ['-c', 'TIMEFORMAT="%U %S"; time ansible-playbook "$@" >&2', 'ansible', ...words],
    {
      env: { ...process.env, ANSIBLE_LOCAL_TEMP: folder, HOME: folder, NO_COLOR: '1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let said = '';
  child.stderr.on('data', (data) => (said += data));
  const [code] = (await once(child, 'close')) as [number | null];
  const seconds = (performance.now() - began) / 1000;
  const used = /([\d.]+) ([\d.]+)\s*$/u.exec(said);
  if (code !== 0 || used === null)
    throw new Error(`ansible-playbook ended with ${code}: ${said.slice(-2_000)}`);
  return { seconds, processorSeconds: Number(used[1]) + Number(used[2]) };
}
