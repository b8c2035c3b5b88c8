import { createHash } from 'node:crypto';
import { createApp } from './app.ts';
import { Doors } from './doors.ts';

const phrase = process.env['DOORS_SEAL_PHRASE'];
if (!phrase) throw new Error('set DOORS_SEAL_PHRASE: what opens the store');
const { app } = await createApp({
  doors: new Doors(['front', 'cellar']),
  folder: process.env['DOORS_FOLDER'] ?? 'doors-data',
  key: createHash('sha256').update(phrase).digest(),
  onRootToken: (token) => console.log(`root token, shown this once: ${token}`),
});
app.listen(3000, '127.0.0.1', () => console.log('listening on http://127.0.0.1:3000'));
