// Follows the events of a Strongroom server: node follow.mjs [kinds]
// STRONGROOM_ADDR and STRONGROOM_TOKEN say where, and as whom. It needs Node 20 and nothing else.

import { StringDecoder } from 'node:string_decoder';

const address = process.env.STRONGROOM_ADDR ?? 'http://127.0.0.1:8200';
const token = process.env.STRONGROOM_TOKEN ?? '';
const kinds = process.argv[2] ?? 'rotation,secret';

/** The place of the last event; sent when the stream is opened again. */
let cursor;
/** Milliseconds until the next attempt. */
let pause = 1_000;

for (;;) {
  try {
    await follow();
  } catch (error) {
    console.error(`no events: ${error.message}`);
  }
  await new Promise((resolve) => setTimeout(resolve, pause));
  pause = Math.min(2 * pause, 30_000);
}

async function follow() {
  const headers = { 'X-Vault-Token': token };
  if (cursor !== undefined) headers['Last-Event-ID'] = cursor;
  const response = await fetch(`${address}/v1/sys/events?kinds=${encodeURIComponent(kinds)}`, { headers });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const decoder = new StringDecoder('utf8');
  let text = '';
  for await (const chunk of response.body) {
    text += decoder.write(chunk);
    const blocks = text.split('\n\n');
    text = blocks.pop();
    for (const block of blocks) take(block);
  }
}

function take(block) {
  const fields = {};
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
  }
  if (fields.id !== undefined) cursor = fields.id;
  pause = 1_000;
  const { event, data } = fields;
  if (event === undefined) return;
  if (event === 'ready') console.log('ready');
  else if (event === 'reset') console.log('some events may be missing: read everything that you depend on');
  else if (event === 'end') console.log(`the stream ends: ${JSON.parse(data).reason}`);
  else {
    const { path, version, time } = JSON.parse(data);
    console.log(`${time} ${event} ${path}${version === undefined ? '' : ` version ${version}`}`);
  }
}
