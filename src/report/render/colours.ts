/** For light and dark screens. Letters keep a contrast of 4.5 to 1 on `--page` and on `--soft`. */
export const COLOURS = `:root { color-scheme: light dark;
  --page: #fff; --soft: #f3f5f8; --line: #cfd6df; --ink: #17202b; --mute: #526070; --link: #0b5394;
  --good: #136c3a; --bad: #b3261e; --alarm: #a01212; --on-alarm: #fff; --on-bar: #fff;
  --decide: #4a5f8f; --queue: #80621a; --execute: #14706b; --human: #a34617; --rebind: #6a4a97; --work: #56606e; }
@media (prefers-color-scheme: dark) { :root {
  --page: #12171e; --soft: #1b222c; --line: #37424f; --ink: #e6ebf1; --mute: #a3b0bf; --link: #8ec1f5;
  --good: #6fd398; --bad: #ff9a90; --alarm: #b71c1c; --on-alarm: #fff; --on-bar: #10151c;
  --decide: #9db2e6; --queue: #e0be68; --execute: #6fd0c6; --human: #f2a27c; --rebind: #c7abf0; --work: #aab4c2; } }
`;
