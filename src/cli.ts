#!/usr/bin/env node

/*
 * The way in. It stays tiny and imports nothing that an old Node cannot load, so that an old Node can say
 * what it needs; everything else is loaded after that check.
 */
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 24) {
  process.stderr.write(
    `lifeboat needs Node 24 or newer; this is Node ${process.versions.node}\n` +
      'hint: `npm run lifeboat -- …` in a checkout uses the Node that it brings along\n',
  );
  process.exitCode = 2;
} else {
  const { start } = await import('./cli/start.ts');
  await start(process.argv.slice(2));
}
