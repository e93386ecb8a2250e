import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import process from 'node:process';

/*
 * A process that looks on: `lookers.ts URL PATH COUNT`. Each hears of news and then loads the page, as a
 * browser does; every fourth stops reading a second after it first heard, as one whose cable was pulled. The
 * header X-Forwarded-User names each, as a proxy does. It says `there` once all have heard something, and at
 * its end how many pages came, and how many did not.
 */
const [url = '', path = '', count = ''] = process.argv.slice(2);
const { hostname, host, port } = new URL(url);
let [heard, pages, lost] = [0, 0, 0];

for (let at = 0; at < Number(count); at += 1) {
  const socket = connect(Number(port), hostname);
  const person = `looker-${at}`;
  let [isBusy, hasHeard] = [false, false];
  socket.on('error', () => undefined);
  socket.write(`GET /events HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-User: ${person}\r\n\r\n`);
  socket.on('data', () => {
    if (!hasHeard) {
      heard += 1;
      if (at % 4 === 0) setTimeout(() => socket.pause(), 1_000);
    }
    hasHeard = true;
    if (heard === Number(count)) {
      heard = 0;
      process.stdout.write('there\n');
    }
    if (isBusy) return;
    isBusy = true;
    setTimeout(async () => {
      const headers = { 'X-Forwarded-User': person };
      const answer = await fetch(`${url}${path}`, { headers }).catch(() => undefined);
      await answer?.text().catch(() => undefined);
      if (answer?.ok === true) pages += 1;
      else lost += 1;
      isBusy = false;
    }, Math.random() * 1_000);
  });
}

process.once('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify({ pages, lost })}\n`);
  process.exit(0);
});
// Its parent is gone.
setInterval(() => {
  if (process.ppid === 1 || readFileSync('/proc/self/status', 'utf8') === '') process.exit(1);
}, 5_000);
