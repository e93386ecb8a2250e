/*
 * The least that Ink can do: as many rows as the terminal has, and a cursor that goes up and down. With
 * EVENTS, a number on every row changes so often a second.
 */
import process from 'node:process';
import { Box, render, Text, useInput, useWindowSize } from 'ink';
import { createElement, useEffect, useState } from 'react';

const EVENTS = Number(process.env['EVENTS'] ?? 0);
const BEAT_MS = 10;

function Peer() {
  const { columns, rows } = useWindowSize();
  const [row, setRow] = useState(0);
  const [count, setCount] = useState(0);
  useInput((input, key) => {
    if (key.downArrow) setRow((at) => at + 1);
    if (key.upArrow) setRow((at) => at - 1);
    if (input === 'q') process.exit(0);
  });
  useEffect(() => {
    if (EVENTS === 0) return;
    const beat = setInterval(() => {
      for (let at = 0; at < (EVENTS * BEAT_MS) / 1000; at += 1) setCount((sum) => sum + 1);
    }, BEAT_MS);
    return () => clearInterval(beat);
  }, []);
  const shown = ((row % rows) + rows) % rows;
  return createElement(
    Box,
    { flexDirection: 'column', width: columns, height: rows },
    Array.from({ length: rows }, (_, at) =>
      createElement(
        Text,
        { key: at, wrap: 'truncate-end' },
        `${at === shown ? '❯' : ' '} row ${at}: ${count}`,
      ),
    ),
  );
}

render(createElement(Peer), {
  alternateScreen: true,
  incrementalRendering: true,
  exitOnCtrlC: false,
  maxFps: 15,
  interactive: true,
});
