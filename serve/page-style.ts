/** The look of the live page: the colours of the report, by day and by night. */
import { style } from '../reports/style.js';

/** CSS. */
export const pageStyle = `${style}
`;
