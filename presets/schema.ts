/** The settings of a run under the names of `kgwalk/presets`. */
export { trainSettings as runSettings, type TrainSettings as RunSettings } from '../trainers/train-settings.js';
