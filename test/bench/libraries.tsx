/*
 * The libraries that a run loads, used once each, and a screen of 28 rows with a clock: what a run takes
 * before a line of Lifeboat. The first argument is the folder of the checkout.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { createRequire } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { Box, render, Text } from 'ink';
import type keytar from 'keytar';
import { useEffect, useState } from 'react';
import { request } from 'undici';
import { createMachine, initialTransition } from 'xstate';
import { parse } from 'yaml';
import * as z from 'zod';

const [, , checkout = ''] = process.argv;
const keychain: typeof keytar = createRequire(`${checkout}/package.json`)('keytar');
await keychain.getPassword('lifeboat-bench', 'nobody');
new DatabaseSync(':memory:').exec('CREATE TABLE entries (body TEXT)');
sign(null, Buffer.from('entry'), generateKeyPairSync('ed25519').privateKey);
z.object({ url: z.string() }).parse(parse('url: here'));
initialTransition(createMachine({ initial: 'begun', states: { begun: {} } }));
request('http://127.0.0.1:9/').catch(() => undefined);

const ROWS = Array.from({ length: 27 }, (_, at) => `row ${at}`);

function Screen() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const clock = setInterval(() => setSeconds((before) => before + 1), 1000);
    return () => clearInterval(clock);
  }, []);
  return (
    <Box flexDirection="column">
      <Text>look at the instance {seconds}</Text>
      {ROWS.map((row) => (
        <Text key={row}>{row}</Text>
      ))}
    </Box>
  );
}

// As the product does, before anything is drawn.
process.stdout.write('\u001b[?1049h');
render(<Screen />);
