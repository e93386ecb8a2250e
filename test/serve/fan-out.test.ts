import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, type TestContext, test } from 'vitest';
import { fanOut } from '../../src/serve/fan-out.ts';
import { KeptPages } from '../../src/serve/kept-pages.ts';
import { until } from '../bench-kit/until.ts';
import { serve } from './requests.ts';

interface Listener {
  readonly socket: Socket;
  text(): string;
}

function listener({ onTestFinished }: Pick<TestContext, 'onTestFinished'>, port: number): Listener {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  socket.on('error', () => undefined);
  socket.write(`GET /events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nLast-Event-ID: 3\r\n\r\n`);
  onTestFinished(() => void socket.destroy());
  return { socket, text: () => text };
}

const BEAT = { most: 3, size: 78, beatMs: 40, pauseMs: 20 };

test('a stream begins with the present size, sends each new size as its id, and sends regular beats', async (context) => {
  const news = fanOut(BEAT);
  const { port } = await serve(context, { news });
  const one = listener(context, port);
  await until(() => one.text().includes('id: 78\ndata: 78\n\n'));
  expect(one.text()).toMatch(/x-accel-buffering: no/iu);
  expect(one.text()).toMatch(/content-type: text\/event-stream/iu);
  news.tell(79);
  await until(() => one.text().includes('id: 79\ndata: 79\n\n'));
  await until(() => one.text().includes('event: beat\nid: 79\n'));
});

test('a thousand changes are sent as a few events, and the last one is never left out', async (context) => {
  const news = fanOut({ ...BEAT, beatMs: 60_000 });
  const { port } = await serve(context, { news });
  const one = listener(context, port);
  await until(() => one.text().includes('data: 78'));
  for (let size = 79; size <= 1_078; size += 1) news.tell(size);
  await until(() => one.text().includes('data: 1078\n\n'));
  expect(one.text().split('data: ').length).toBeLessThan(20);
});

test('there are no more streams than allowed, and one that ends makes room', async (context) => {
  const news = fanOut(BEAT);
  const { port } = await serve(context, { news });
  const open = [1, 2, 3].map(() => listener(context, port));
  await until(() => open.every((one) => one.text().includes('data: 78')));
  const fourth = listener(context, port);
  await until(() => fourth.text().includes('HTTP/1.1 429'));
  expect(fourth.text()).toMatch(/retry-after: 30/iu);
  open[0]?.socket.destroy();
  await until(() => news.count === 2);
  const fifth = listener(context, port);
  await until(() => fifth.text().includes('data: 78'));
});

test('a client that reads nothing between two beats is dropped, and nothing is kept for it', async (context) => {
  const news = fanOut(BEAT);
  const { port } = await serve(context, { news });
  const quick = listener(context, port);
  await until(() => news.count === 1);
  const written: string[] = [];
  const stuck: EventEmitter = Object.assign(new EventEmitter(), {
    writableNeedDrain: false,
    writeHead: () => undefined,
    write(text: string) {
      written.push(text);
      this.writableNeedDrain = true;
      return false;
    },
    end: () => undefined,
    destroy() {
      stuck.emit('close');
    },
  });
  expect(news.open(stuck as never)).toBe(true);
  await until(() => news.count === 1);
  expect(written).toHaveLength(1);
  news.tell(80);
  await until(() => quick.text().includes('data: 80\n\n'));
});

test('a stream ends after a few beats, so one whose client died silently makes room', async (context) => {
  const news = fanOut({ ...BEAT, most: 1 });
  context.onTestFinished(() => news.close());
  let beats = 0;
  const dead: EventEmitter = Object.assign(new EventEmitter(), {
    // The network takes every byte, and no peer ever answers.
    writableNeedDrain: false,
    writeHead: () => undefined,
    write(text: string) {
      if (text.includes('event: beat')) beats += 1;
      return true;
    },
    end() {
      dead.emit('close');
    },
  });
  expect(news.open(dead as never)).toBe(true);
  await until(() => news.count === 0);
  expect(beats).toBeLessThan(8);
});

test('a server that ends ends every stream', async (context) => {
  const news = fanOut(BEAT);
  const { port, close } = await serve(context, { news });
  const one = listener(context, port);
  await until(() => one.text().includes('data: 78'));
  const closed = new Promise((resolve) => one.socket.once('close', resolve));
  await close();
  await closed;
});

test('a page is built once for simultaneous requests, and again after news, but not after each', async () => {
  let [size, now, made] = [1, 0, 0];
  const kept = new KeptPages<number>(
    () => size,
    () => now,
  );
  const ask = () =>
    kept.get('board', async () => {
      made += 1;
      now += 500;
      return made;
    });
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
  size = 2;
  expect(await ask()).toBe(1);
  // What took half a second is made again after four times that.
  now += 1_600;
  expect(await ask()).toBe(2);
  now += 9_000;
  expect(await ask()).toBe(2);
  now += 1_000;
  expect(await ask()).toBe(3);
});

test('a page that could not be built is tried again for the next client', async () => {
  const kept = new KeptPages<string>(() => 1);
  await expect(kept.get('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await kept.get('a', async () => 'there')).toBe('there');
});
