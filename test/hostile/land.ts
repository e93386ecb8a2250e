import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { Mishap, Wish } from '../bench-kit/foreign/capi.ts';
import { refusal } from '../bench-kit/foreign/capi-words.ts';
import type { PlatformBench } from '../bench-kit/platform-bench.ts';

/*
 * A platform in which every name is hostile, and which says something hostile wherever its API lets it say
 * anything. Ids stay ids: what is none is no answer at all.
 */

/**
 * Renames everything that there is, and binds one more application, stopped, and a service key for each of
 * the texts.
 */
export function hostileLand({ land, orders, target }: PlatformBench, texts: readonly string[]): void {
  let next = 0;
  const word = () => texts[next++ % texts.length] ?? '';
  const rename = (things: readonly { readonly name: string | null }[]) => {
    for (const thing of things) if (thing.name !== null) Object.assign(thing, { name: word() });
  };
  rename([orders, target, ...land.apps, ...land.spaces, ...new Set(land.spaces.map(({ org }) => org))]);
  rename(land.bindings);
  const [space] = land.spaces;
  if (space === undefined) return;
  for (const name of texts) {
    const app = land.addApp({ name, space, state: 'STOPPED' });
    const operation = { type: 'create', state: 'succeeded', description: name } as const;
    land.addBinding({ instance: orders, app, name, parameters: { [name]: name }, operation });
    land.addBinding({ instance: orders, name, operation });
  }
  const { note } = land;
  Object.assign(land, {
    note: (type: string, about: string) => note(`${type}.${word().slice(0, 60)}`, about),
  });
}

/**
 * What goes wrong with the changes that it is asked for, one after the other: they fail, or are refused, in
 * hostile words.
 */
export function hostileMishaps(texts: readonly string[]): (wish: Wish) => Mishap | undefined {
  let next = 0;
  const word = () => texts[next++ % texts.length] ?? '';
  return ({ number }) => {
    if (number < 6 || number % 2 === 0) return undefined;
    if (number % 4 === 1) return { fails: word() };
    const headers = { 'retry-after': word().replace(/[^\x20-\x7e]/gu, '') };
    return { work: false, answer: { ...refusal(422, 10_008, word(), word(), word()), headers } };
  };
}

/** A tool `cf` that, asked for a token, says something hostile on both streams and fails. */
export function installHostileCf(bench: PlatformBench, text: string): void {
  bench.installCf(true);
  const bin = join(bench.folder, 'hostile-bin');
  mkdirSync(bin);
  writeFileSync(join(bench.folder, 'said'), text);
  const said = `cat '${join(bench.folder, 'said')}'`;
  const script = `#!/bin/sh\n${said}; ${said} >&2\nexit 1\n`;
  writeFileSync(join(bin, 'cf'), script, { mode: 0o755 });
  Object.assign(bench.env, { PATH: `${bin}:${process.env['PATH']}` });
}
