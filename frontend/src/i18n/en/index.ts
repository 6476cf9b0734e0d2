import { cluster } from './cluster';
import { compare } from './compare';
import { components } from './components';
import { experiments } from './experiments';
import { graph } from './graph';
import { home } from './home';
import { logs } from './logs';
import { metrics } from './metrics';
import { newRun } from './newRun';
import { outputs } from './outputs';
import { palette } from './palette';
import { pipelines } from './pipelines';
import { run } from './run';
import { runs } from './runs';
import { scaling } from './scaling';
import { schedules } from './schedules';
import { settings } from './settings';

/** English texts of all that is loaded later than the list of runs: shell.ts has the others. */
export const later = {
  ...cluster,
  ...compare,
  ...components,
  ...experiments,
  ...graph,
  ...home,
  ...logs,
  ...metrics,
  ...newRun,
  ...outputs,
  ...palette,
  ...pipelines,
  ...run,
  ...runs,
  ...scaling,
  ...schedules,
  ...settings,
};
