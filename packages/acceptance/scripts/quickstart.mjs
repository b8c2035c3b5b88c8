import { installPackages, runBuilt } from './setup.mjs';

installPackages();
console.log('Building …');
runBuilt('quickstart-main.js', process.argv.slice(2));
