export { createApp } from './app.ts';
export { doorEngine } from './door-engine.ts';
export { Doors } from './doors.ts';
