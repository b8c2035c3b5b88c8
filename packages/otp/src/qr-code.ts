import { crc32, deflateSync } from 'node:zlib';
import { encode } from 'uqr';

/** Modules of white around a QR code, without which readers do not find it. */
const QUIET_ZONE = 4;
const WHITE = 255;

/** The text as a QR code: a PNG of `pixels` by `pixels`, or of one pixel for each module where that is too small. */
export function qrCodePng(text: string, pixels: number): Buffer {
  const { data, size: modules } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  const size = Math.max(pixels, modules);
  const scale = Math.floor(size / modules);
  const margin = Math.floor((size - modules * scale) / 2);
  const rows = Buffer.alloc(size * (size + 1), WHITE);
  for (let y = 0; y < size; y += 1) {
    const row = y * (size + 1);
    // Each row begins with its filter: none.
    rows[row] = 0;
    const dark = data[Math.floor((y - margin) / scale)];
    if (!dark) continue;
    for (let x = 0; x < size; x += 1) if (dark[Math.floor((x - margin) / scale)]) rows[row + 1 + x] = 0;
  }
  return greyscalePng(size, rows);
}

/** `rows`: one byte for each pixel, each row behind the byte of its filter. */
function greyscalePng(size: number, rows: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // Eight bits for each pixel. The zeros behind it: greyscale, deflate, filters by row, not interlaced.
  header[8] = 8;
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
