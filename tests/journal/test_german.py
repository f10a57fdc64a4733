"""Due dates in German: what people write into plans, and when each is due.

Said on Wednesday, 4 March 2026, at 13:00 in Berlin. A date alone stands for its last second. None:
nothing in it says when. Written before they were first read.
"""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memory_butler.journal.due import due_date, schedule, undated, window
from memory_butler.journal.items import Item
from memory_butler.journal.lifecycle import match
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.tags import Command

from .values import item

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
GERMAN = JournalPolicy(zone=BERLIN, languages=("de",))
BOTH = JournalPolicy(zone=BERLIN, languages=("en", "de"))

PHRASES: list[tuple[str, str | None]] = [
    # Words and numbers that are no dates.
    ("mit Tom reden", None),
    ("die Miete mit Paypal zahlen", None),
    ("so bald wie möglich anrufen", None),
    ("5000 Euro für die Reise sparen", None),
    ("Kapitel 12 lesen", None),
    ("8000 Schritte gehen", None),
    ("Bus 12 zum See nehmen", None),
    ("Version 3.2 installieren", None),
    ("um 5 Euro günstiger verkaufen", None),
    ("den Preis um 10 Prozent senken", None),
    ("Samstag-Zeitung abbestellen", None),
    ("in 3 Gruppen teilen", None),
    ("über letzten Freitag schreiben", None),
    ("seit Montag liegt das hier, wegräumen", None),
    ("zum 3. Mal fragen", None),
    ("in den 2. Stock ziehen", None),
    ("guten Morgen sagen", None),
    ("Mai eine Karte schreiben", None),
    ("den 5. Band lesen", None),
    ("Version 3.2. installieren", None),
    ("am 2. Advent singen", None),
    ("nach dem 10. März anrufen", None),
    ("ab Montag weniger Kaffee", None),
    # Days.
    ("heute Lea anrufen", "2026-03-04"),
    ("morgen einkaufen", "2026-03-05"),
    ("übermorgen um 9 Uhr Paket abholen", "2026-03-06T09:00"),
    ("morgen früh joggen", "2026-03-05T12:00"),
    ("morgen Nachmittag zur Bank", "2026-03-05T18:00"),
    ("heute Abend um 8 kochen", "2026-03-04T20:00"),
    ("am Freitag um 15 Uhr Zahnarzt", "2026-03-06T15:00"),
    ("morgen um halb eins essen", "2026-03-05T12:30"),
    ("morgen um viertel vor eins essen", "2026-03-05T12:45"),
    ("Freitagabend ins Kino", "2026-03-06"),
    ("bis Montag abgeben", "2026-03-09"),
    ("spätestens Dienstag Bescheid geben", "2026-03-10"),
    ("vor Freitag fertig werden", "2026-03-05"),
    ("nächsten Mittwoch Oma besuchen", "2026-03-11"),
    ("kommenden Sonntag brunchen", "2026-03-08"),
    ("Sonnabend Rasen mähen", "2026-03-07"),
    ("Montag in einer Woche anfangen", "2026-03-16"),
    ("heute in zwei Wochen nachfragen", "2026-03-18"),
    ("nächste Woche Dienstag zum Sport", "2026-03-10"),
    ("Donnerstag nächster Woche abreisen", "2026-03-12"),
    ("in drei Tagen gießen", "2026-03-07"),
    ("in einer Woche kündigen", "2026-03-11"),
    ("in 2 Monaten erneuern", "2026-05-04"),
    ("in einer halben Stunde den Ofen ausmachen", "2026-03-04T13:30"),
    ("in 90 Minuten Wäsche aufhängen", "2026-03-04T14:30"),
    ("diese Woche putzen", "2026-03-08"),
    ("Ausflug vom Freitag bis zum Sonntag", "2026-03-06"),
    ("von Fr bis So Skifahren", "2026-03-06"),
    ("nächste Woche Steuer machen", "2026-03-15"),
    ("am Wochenende wandern", "2026-03-08"),
    ("nächsten Monat impfen lassen", "2026-04-30"),
    # The calendar.
    ("Mama am 10. März um 18 Uhr anrufen", "2026-03-10T18:00"),
    ("am 3. April um 10:15 Zahnarzt", "2026-04-03T10:15"),
    ("am 3.4. um 10:15 Uhr Zahnarzt", "2026-04-03T10:15"),
    ("Zahnarzt 10.15 Uhr am 24.3.", "2026-03-24T10:15"),
    ("am 3.4.2027 umziehen", "2027-04-03"),
    ("Freitag, 13. März, Konzert", "2026-03-13"),
    ("Geburtstag von Jule am 18. April", "2026-04-18"),
    ("am 1. Februar verlängern", "2027-02-01"),
    ("am 28. Steuer abgeben", "2026-03-28"),
    ("bis zum 15. zahlen", "2026-03-15"),
    ("bis Ende März kündigen", "2026-03-31"),
    ("bis Ende der Woche lesen", "2026-03-08"),
    ("bis Ende des Monats verkaufen", "2026-03-31"),
    ("zum Monatsende abrechnen", "2026-03-31"),
    ("im Mai pflanzen", "2026-05-31"),
    ("an Weihnachten die Eltern einladen", "2026-12-25"),
    ("Zahnarzt 10.3., 14 Uhr", "2026-03-10T14:00"),
    ("Di 10.3. 14:00 Zahnarzt", "2026-03-10T14:00"),
    ("Freitag, den 13. Film schauen", "2026-03-13"),
    ("am letzten Freitag im März Stammtisch", "2026-03-27"),
    # Times of day.
    ("Mittwoch früh um sechs aufstehen", "2026-03-11T06:00"),
    ("Freitag von 10 bis 12 Uhr Kurs", "2026-03-06T10:00"),
    ("zwischen 9 und 10 Uhr anrufen", "2026-03-05T09:00"),
    ("um drei bei Lea sein", "2026-03-04T15:00"),
    ("um 17 Uhr Tee trinken", "2026-03-04T17:00"),
    ("Freitag um 24 Uhr abgeben", "2026-03-06"),
    ("Sonnabend um 9 Uhr Markt", "2026-03-07T09:00"),
    ("Heiligabend um 10 Uhr Baum schmücken", "2026-12-24T10:00"),
    ("vergiss nicht am Freitag die Miete zu zahlen", "2026-03-06"),
    ("vergiss nicht morgen den Müll rauszubringen", "2026-03-05"),
    ("Nächsten Mittwoch Oma besuchen", "2026-03-11"),
    ("Kommenden Mittwoch Oma besuchen", "2026-03-11"),
    ("um halb drei Friseur", "2026-03-04T14:30"),
    ("um Viertel nach 4 Kind abholen", "2026-03-04T16:15"),
    ("morgen um dreiviertel acht los", "2026-03-05T07:45"),
    ("um 14.30 Uhr Termin", "2026-03-04T14:30"),
    ("Freitag 19 Uhr 30 Theater", "2026-03-06T19:30"),
    ("um 8 am Bahnhof sein", "2026-03-04T20:00"),
    ("Samstag um 7 laufen", "2026-03-07T07:00"),
    # Counted from another date, or not meant.
    ("drei Tage vor der Hochzeit am 20. Juni Blumen holen", None),
    ("zwei Wochen vor Weihnachten Karten schreiben", None),
    ("einen Tag vor der Prüfung am 9. Mai packen", None),
    ("am Vorabend des 1. Mai tanzen", None),
    ("eine Stunde vor dem Film um 20 Uhr losgehen", None),
    ("am Tag vor Heiligabend backen", "2026-12-23"),
    ("vor dem Sport am Freitag essen", "2026-03-06"),
    ("in zwei Tagen nach der Arbeit um 18 Uhr einkaufen", "2026-03-06T18:00"),
    ("nicht vor Freitag anrufen", None),
    ("nicht am Freitag, sondern am Samstag", "2026-03-07"),
    # Short names of weekdays.
    ("Zahnarzt Di. 16 Uhr", "2026-03-10T16:00"),
    ("Zahnarzt Di 16:15", "2026-03-10T16:15"),
    ("Zahnarzt Di, 16 Uhr", "2026-03-10T16:00"),
    ("Fr um 20 Uhr Kino", "2026-03-06T20:00"),
    ("Pizza am Sa", "2026-03-07"),
    ("bis Mo den Bericht", "2026-03-09"),
    ("So 11 Uhr Brunch", "2026-03-08T11:00"),
    ("So um 8 gehen wir los", "2026-03-04T20:00"),
    ("so um 8 losgehen", "2026-03-04T20:00"),
    ("am so oft benutzten Rad schrauben", None),
    ("Mi casa ansehen", None),
    # Spans by their beginning.
    ("Samstag 9-12 Uhr Flohmarkt", "2026-03-07T09:00"),
    ("Samstag 9 bis 12 Uhr Flohmarkt", "2026-03-07T09:00"),
    ("morgen 14:30-16 Uhr Werkstatt", "2026-03-05T14:30"),
    ("Urlaub vom 3. bis 9. Mai", "2026-05-03"),
    ("Urlaub 3.-9. Mai", "2026-05-03"),
    ("Urlaub vom 3.5. bis 9.5.", "2026-05-03"),
    ("Urlaub vom 28. April bis 3. Mai", "2026-04-28"),
    ("Fasten vom 2. bis 9. März", "2026-03-09"),
    ("Kurs von Montag bis Freitag", "2026-03-09"),
    ("die Rechnung vom 3. März bis Freitag bezahlen", "2026-03-06"),
    # Weeks, months and years to come.
    ("heute in 14 Tagen zum Amt", "2026-03-18"),
    ("heute in 8 Tagen zum Amt", "2026-03-11"),
    ("Freitag in 14 Tagen Konzert", "2026-03-20"),
    ("nächsten Monat am 5. zahlen", "2026-04-05"),
    ("am 5. nächsten Monats zahlen", "2026-04-05"),
    ("im nächsten Monat am 5. Mai denken", "2026-04-30"),
    ("nächstes Jahr im Mai umziehen", "2027-05-31"),
    ("im Mai nächsten Jahres umziehen", "2027-05-31"),
    ("Anfang April den Vermieter anrufen", "2026-04-07"),
    ("Anfang nächster Woche anrufen", "2026-03-10"),
    ("Anfang nächsten Monats zahlen", "2026-04-07"),
    ("Mitte nächster Woche anrufen", "2026-03-11"),
    ("Mitte April säen", "2026-04-15"),
    ("heute Nacht um 2 den Ofen ausmachen", "2026-03-05T02:00"),
    ("heute Nacht um 23 Uhr gehen", "2026-03-04T23:00"),
    ("Samstag Nacht um 1 Taxi", "2026-03-08T01:00"),
    ("in der Nacht auf Freitag um 2 Sternschnuppen", "2026-03-06T02:00"),
    ("um 3 Uhr nachts Medizin", "2026-03-05T03:00"),
    ("heute in einer Stunde anrufen", "2026-03-04T14:00"),
    ("heute in einem Monat kündigen", "2026-04-04"),
    ("am 5. Mai nächsten Jahres heiraten", "2027-05-05"),
    ("im Mai nächstes Jahr umziehen", "2027-05-31"),
    ("Fasten vom 1. März bis 9. März", "2026-03-09"),
    ("Ski vom 28.12. bis 3.1.", "2026-12-28"),
    ("Ostern um 11 Uhr Brunch", "2026-04-05T11:00"),
    ("am Karfreitag um 15 Uhr Konzert", "2026-04-03T15:00"),
    ("vor Ostern fertig werden", "2026-04-04"),
    ("Pfingstmontag wandern", "2026-05-25"),
    ("Muttertag um 11 Uhr Kaffee", "2026-05-10T11:00"),
    ("an meinem Geburtstag um 18 Uhr essen", None),
    ("zwei Tage vor Ostern um 9 Uhr packen", None),
    ("Miete am Ersten um 9 Uhr", "2026-04-01T09:00"),
    ("am dritten Mai um 17 Uhr tanzen", "2026-05-03T17:00"),
    ("am ersten Tag um 9 Uhr", "2026-03-05T09:00"),
    ("übernächste Woche anfangen", "2026-03-22"),
    ("übernächsten Montag um 9 Uhr zum Amt", "2026-03-16T09:00"),
    ("KW 12 umziehen", "2026-03-22"),
    ("KW 5 planen", "2027-02-07"),
    ("gestern um 9 Uhr war ich da", None),
    ("letzten Freitag um 9 Uhr war ich da", None),
    ("mittags um 12 Suppe", "2026-03-05T12:00"),
    ("Zahnarzt 10.3.26 um 16 Uhr", "2026-03-10T16:00"),
    ("am 10.3.27 umziehen", "2027-03-10"),
    ("Version 3.2.27 installieren", None),
    ("3.2.27 ist neu", None),
    ("Zahnarzt 2026-03-12T15:00", "2026-03-12T15:00"),
    ("Zahnarzt 2026-03-12 um 15 Uhr", "2026-03-12T15:00"),
    # Where to, and where: nothing to count from.
    ("drei Tage nach Berlin am Freitag um 8 Uhr", "2026-03-06T08:00"),
    ("eine Woche nach Kreta, Flug am 3. Juli um 6:30", "2026-07-03T06:30"),
    ("zwei Tage vor Ort am Freitag", "2026-03-06"),
    ("5 Minuten vor 8 am Freitag los", "2026-03-06"),
    ("eine Stunde vor Abflug am Freitag um 8 Uhr", None),
    ("zwei Tage vor Freitag packen", None),
    ("drei Tage vor Ostern um 8 Uhr backen", None),
    # A day that was takes only the time beside it away.
    ("gestern vergessen: um 15 Uhr Mama anrufen", "2026-03-04T15:00"),
    ("Notizen von gestern lesen, um 15 Uhr Mama anrufen", "2026-03-04T15:00"),
    ("gestern Abend um 8 Uhr gesehen", None),
    ("seit Montag Kopfweh, um 15 Uhr Arzt", "2026-03-04T15:00"),
    ("seit Montag um 15 Uhr krank", None),
    ("ab Montag Training um 18 Uhr", None),
    ("Mittagessen vorbereiten heute Abend um 11", "2026-03-04T23:00"),
    # "So" is a word, and kW a unit.
    ("So gegen 8 Uhr komme ich", "2026-03-05T08:00"),
    ("So, um 8 Uhr komme ich", "2026-03-05T08:00"),
    ("So 8 Uhr Kirche", "2026-03-08T08:00"),
    ("Wärmepumpe 8 kW 2 Angebote einholen", None),
    ("Wärmepumpe 8 KW 2 Angebote einholen", None),
    ("in der KW 12 Urlaub nehmen", "2026-03-22"),
    ("KW 12/2027 Urlaub", "2027-03-28"),
    ("eine Woche nach Omas Geburtstag am 3. April", None),
    ("10 Minuten vor Feierabend am Freitag um 16 Uhr aufräumen", None),
    ("nicht am Freitag um 15 Uhr, sondern am Samstag um 10 Uhr", "2026-03-07T10:00"),
    # "6 Uhr" is on the clock of 24 hours, "um 6" and "5 Uhr" are not (C-526).
    ("um 6 Uhr aufstehen", "2026-03-05T06:00"),
    ("um sechs Uhr aufstehen", "2026-03-05T06:00"),
    ("morgen früh um 4 Uhr Taxi", "2026-03-05T04:00"),
    ("Kaffee morgen um 3 Uhr", "2026-03-05T15:00"),
    ("morgen von 2 bis 4 Uhr Kurs", "2026-03-05T14:00"),
    ("um 6 aufstehen", "2026-03-04T18:00"),
    ("Freitag um fünf Uhr Arzt", "2026-03-06T17:00"),
    ("heute Abend um 6 Uhr kochen", "2026-03-04T18:00"),
    ("Mittagessen um 1 Uhr mit Lea", "2026-03-05T13:00"),
    # As people write in a hurry, and without umlauts.
    ("uebermorgen frueh um 9 Uhr zum Arzt", "2026-03-06T09:00"),
    ("naechsten Do um 15 Uhr am 12. Maerz vorbereiten", "2026-03-05T15:00"),
    ("in anderthalb Stunden Kuchen raus", "2026-03-04T14:30"),
    ("in 1,5 Stunden Kuchen raus", "2026-03-04T14:30"),
    ("in einer Dreiviertelstunde Kuchen raus", "2026-03-04T13:45"),
    ("in ner halben Stunde Tee", "2026-03-04T13:30"),
    ("in 2 Std Lea anrufen", "2026-03-04T15:00"),
    ("40 Bahnen in 30 min schwimmen", None),
    ("um kurz vor 8 am Bahnhof sein", "2026-03-04T20:00"),
    ("um zehn nach acht Bus", "2026-03-04T20:10"),
    ("um fünf vor halb neun Bus", "2026-03-04T20:25"),
    ("heut Abend Lea anrufen", "2026-03-04"),
    ("am 2. Weihnachtstag zu den Eltern", "2026-12-26"),
    ("vor dem 10.3. fertig werden", "2026-03-09"),
    # What begins then, names, and a day that is excluded.
    ("Sa 7.3. ab 15 Uhr Geburtstag", "2026-03-07T15:00"),
    ("Frau Freitag um 15 Uhr anrufen", "2026-03-04T15:00"),
    ("meine Frau Freitag um 15 Uhr abholen", "2026-03-06T15:00"),
    ("bis zum Ende des Kurses, ab Freitag um 8", None),
    ("heute um 12 Uhr und um 20 Uhr Tropfen", "2026-03-04T20:00"),
    ("Familie Sonntag zum Essen einladen", "2026-03-08"),
    ("Termin Dr. Freitag 10 Uhr", "2026-03-06T10:00"),
    ("heute um 6 Uhr Training", "2026-03-04T18:00"),
    ("heute früh um 6 Uhr Training", None),
    ("heute von 9 bis 17 Uhr Messe", None),
    ("morgen Abendessen um 6 Uhr", "2026-03-05T18:00"),
]
REPEATED = [
    ("jeden ersten Montag im Monat Treffen", "2026-04-06T23:59", "FREQ=MONTHLY;BYDAY=1MO"),
    (
        "alle drei Monate Filter wechseln",
        "2026-06-04T23:59",
        "FREQ=MONTHLY;BYMONTHDAY=4;INTERVAL=3",
    ),
    ("jedes Jahr am 3. Mai Rosen schneiden", "2026-05-03T23:59", "FREQ=YEARLY;BYMONTH=5"),
    ("jede Woche Pflanzen gießen", "2026-03-08T23:59", "FREQ=WEEKLY;BYDAY=SU"),
    ("werktags um 6:30 aufstehen", "2026-03-05T06:30", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
    ("jeden Dienstag um 18 Uhr gießen", "2026-03-10T18:00", "FREQ=WEEKLY;BYDAY=TU"),
    ("jeden Montag und Donnerstag um 7 laufen", "2026-03-05T07:00", "FREQ=WEEKLY;BYDAY=MO,TH"),
    ("alle 8 Stunden Antibiotikum nehmen", "2026-03-04T21:00", "FREQ=MINUTELY;INTERVAL=480"),
    ("täglich um 9 Uhr Tablette", "2026-03-05T09:00", "FREQ=DAILY"),
    ("jeden Abend um 10 Zähne putzen", "2026-03-04T22:00", "FREQ=DAILY"),
    ("sonntags Oma anrufen", "2026-03-08T23:59", "FREQ=WEEKLY;BYDAY=SU"),
    ("jeden zweiten Samstag putzen", "2026-03-07T23:59", "FREQ=WEEKLY;BYDAY=SA;INTERVAL=2"),
    ("alle zwei Wochen am Freitag Müll", "2026-03-06T23:59", "FREQ=WEEKLY;BYDAY=FR;INTERVAL=2"),
    ("jeden Monat am 1. Miete zahlen", "2026-04-01T23:59", "FREQ=MONTHLY;BYMONTHDAY=1"),
    ("am 15. jeden Monats abrechnen", "2026-03-15T23:59", "FREQ=MONTHLY;BYMONTHDAY=15"),
    # As "every 3 days", and as "alle zwei Wochen".
    ("alle drei Tage Farne gießen", "2026-03-07T23:59", "FREQ=DAILY;INTERVAL=3"),
    ("montags und mittwochs um 18 Uhr Kurs", "2026-03-04T18:00", "FREQ=WEEKLY;BYDAY=MO,WE"),
    ("alle 14 Tage freitags um 9 Müll", "2026-03-06T09:00", "FREQ=WEEKLY;BYDAY=FR;INTERVAL=2"),
    ("wochentags um 7 aufstehen", "2026-03-05T07:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
    ("an Wochenenden um 10 backen", "2026-03-07T10:00", "FREQ=WEEKLY;BYDAY=SA,SU"),
    ("Mo-Fr um 7 laufen", "2026-03-05T07:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
    ("jeden Montag bis Freitag um 9 Kurs", "2026-03-05T09:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
    ("einmal pro Woche Blumen gießen", "2026-03-08T23:59", "FREQ=WEEKLY;BYDAY=SU"),
    ("jeden 3. des Monats Miete", "2026-04-03T23:59", "FREQ=MONTHLY;BYMONTHDAY=3"),
    ("letzten Montag im Monat Papier", "2026-03-30T23:59", "FREQ=MONTHLY;BYDAY=-1MO"),
    ("jeden Montag bis Ostern Chor", "2026-03-09T23:59", "FREQ=WEEKLY;BYDAY=MO;UNTIL=20260405"),
    (
        "drei Wochen lang jeden Tag um 8 üben",
        "2026-03-05T08:00",
        "FREQ=DAILY;UNTIL=20260326T075959",
    ),
    (
        "jede Stunde bis 17 Uhr trinken",
        "2026-03-04T14:00",
        "FREQ=MINUTELY;INTERVAL=60;UNTIL=20260304T17",
    ),
    (
        "alle 2 Stunden bis 18 Uhr am Freitag",
        "2026-03-04T15:00",
        "FREQ=MINUTELY;INTERVAL=120;UNTIL=20260306T18",
    ),
    (
        "jeden Dienstag bis Freitag, den 20. März",
        "2026-03-10T23:59",
        "FREQ=WEEKLY;BYDAY=TU;UNTIL=20260320",
    ),
    (
        "stündlich bis 17 Uhr trinken",
        "2026-03-04T14:00",
        "FREQ=MINUTELY;INTERVAL=60;UNTIL=20260304T17",
    ),
    ("jeden Tag in den nächsten zwei Wochen üben", "2026-03-04T23:59", "FREQ=DAILY;UNTIL=20260317"),
    ("jeden Tag ab Montag um 8 Tablette", "2026-03-09T08:00", "FREQ=DAILY;BYHOUR=8"),
    ("Papas Geburtstag am 29. Oktober, jedes Jahr", "2026-10-29T23:59", "FREQ=YEARLY;BYMONTH=10"),
    ("Papas Geburtstag, jährlich am 29. Oktober", "2026-10-29T23:59", "FREQ=YEARLY;BYMONTH=10"),
    ("Omas Geburtstag, jährlich am 29. Februar", "2027-02-28T23:59", "FREQ=YEARLY;BYMONTH=2"),
    ("am 29.2. jedes Jahr Oma anrufen", "2027-02-28T23:59", "FREQ=YEARLY;BYMONTH=2"),
    ("jeden 29. Oktober Papas Geburtstag", "2026-10-29T23:59", "FREQ=YEARLY;BYMONTH=10"),
    ("Mama anrufen, Freitag um 17 Uhr, jede Woche", "2026-03-06T17:00", "FREQ=WEEKLY;BYDAY=FR"),
    ("jeden Tag vom 10. bis 20. März füttern", "2026-03-10T23:59", "FREQ=DAILY;UNTIL=20260320"),
    ("jeden Abend drei Abende lang Tropfen", "2026-03-04T23:59", "FREQ=DAILY;UNTIL=20260306"),
    ("jede Nacht für drei Nächte kühlen", "2026-03-04T23:59", "FREQ=DAILY;UNTIL=20260306"),
    ("diese Woche jeden Abend Tropfen", "2026-03-04T23:59", "FREQ=DAILY;UNTIL=20260308"),
    ("nächste Woche jeden Tag um 8 üben", "2026-03-09T08:00", "FREQ=DAILY;UNTIL=20260315"),
    ("täglich außer Sonntag um 8 üben", "2026-03-05T08:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA;"),
    (
        "jeden Tag ausser am Wochenende üben",
        "2026-03-04T23:59",
        "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;",
    ),
]


def told(phrase: str, policy: JournalPolicy) -> str | None:
    due = due_date(None, phrase, NOW, policy)
    if due is None:
        return None
    local = due.astimezone(BERLIN).replace(tzinfo=None).isoformat(timespec="seconds")
    return local.removesuffix("T23:59:59").removesuffix(":00")


@pytest.mark.requirement("JSCH-09")
@pytest.mark.parametrize(("phrase", "due"), PHRASES)
def test_when_a_plan_in_german_is_due(phrase: str, due: str | None) -> None:
    assert told(phrase, GERMAN) == due
    assert told(phrase, BOTH) == due


@pytest.mark.requirement("JSCH-09")
@pytest.mark.parametrize(("phrase", "due", "rule"), REPEATED)
def test_what_repeats_in_german(phrase: str, due: str, rule: str) -> None:
    found = schedule(None, phrase, NOW, BOTH)
    assert found is not None
    assert found.due.astimezone(BERLIN).isoformat()[:16] == due
    assert (found.repeats or "").startswith(rule)


@pytest.mark.requirement("JLOOK-06")
def test_a_window_and_an_attribute_in_german(live: LiveJournal) -> None:
    day = window("nächsten Dienstag", NOW, BOTH)
    assert day is not None
    assert day.start.astimezone(BERLIN).isoformat() == "2026-03-10T00:00:00+01:00"
    for phrase, end in (
        ("vom 3. bis 9. Mai", "2026-05-10"),
        ("vom 30.4. bis 3.5.", "2026-05-04"),
        ("von Freitag bis Sonntag", "2026-03-09"),
        ("Freitag bis Sonntag", "2026-03-09"),
        ("von nächstem Freitag bis zum Montag", "2026-03-10"),
    ):
        span = window(phrase, NOW, BOTH)
        assert span is not None
        assert span.end.astimezone(BERLIN).isoformat()[:10] == end
    assert told("ab 2026-12-18 ist zu", GERMAN) is None
    assert due_date("am 24.3. um 8:30", "Zahnarzt", NOW, BOTH) == datetime(
        2026, 3, 24, 7, 30, tzinfo=UTC
    )


@pytest.mark.requirement("JSCH-09")
@pytest.mark.parametrize("languages", [("de",), ("fr",), ("en", "de")])
@pytest.mark.parametrize(
    ("given", "due"),
    [
        ("2026-03-12T15:00", "2026-03-12T15:00"),
        ("2026-03-12T15:00:00+01:00", "2026-03-12T15:00"),
        ("2026-03-12", "2026-03-12"),
        ("2026-03-04T09:00", None),
        ("March 12, 2026 at 3:00 PM", "2026-03-12T15:00"),
        ("tomorrow at 15:00", "2026-03-05T15:00"),
    ],
)
def test_an_attribute_as_models_write_it_is_read_in_any_language(
    languages: tuple[str, ...], given: str, due: str | None
) -> None:
    found = due_date(given, "Zahnarzt", NOW, JournalPolicy(zone=BERLIN, languages=languages))
    local = found.astimezone(BERLIN).isoformat()[:19] if found else None
    assert (local and local.removesuffix("T23:59:59").removesuffix(":00")) == due


@pytest.mark.requirement("JSCH-09")
@pytest.mark.parametrize(
    ("language", "given", "due"),
    [
        ("nl", "2026-03-12 om 18:00", "2026-03-12T18:00"),
        ("es", "2026-03-12 a las 18:00", "2026-03-12T18:00"),
        ("pt", "10 mar às 18:00", "2026-03-10T18:00"),
        ("id", "15 April 2026 pukul 10:00", "2026-04-15T10:00"),
        ("nl", "dinsdag 7 april 2026 om 18:00", "2026-04-07T18:00"),
        ("fr", "mar 7 avril 2026 à 18h", "2026-04-07T18:00"),
        ("nl", "friday at 3 in the afternoon", "2026-03-06T15:00"),
    ],
)
def test_an_attribute_is_english_only_where_all_of_it_is(
    language: str, given: str, due: str
) -> None:
    found = due_date(given, "x", NOW, JournalPolicy(zone=BERLIN, languages=(language,)))
    assert found is not None
    assert found.astimezone(BERLIN).isoformat()[:16] == due


@pytest.mark.requirement("JSCH-09")
def test_a_leap_day_has_a_year_of_its_own() -> None:
    assert told("am 29.2.2028 feiern", GERMAN) == "2028-02-29"
    assert told("am 29.2.2027 feiern", GERMAN) is None


@pytest.mark.requirement("JSCH-09")
@pytest.mark.parametrize("phrase", ["Silvester um 18 Uhr anstoßen", "toast at 6pm new year's eve"])
def test_the_time_of_a_feast_that_is_past_today_is_next_years(phrase: str) -> None:
    evening = datetime(2026, 12, 31, 21, 30, tzinfo=UTC)
    assert due_date(None, phrase, evening, BOTH) == datetime(2027, 12, 31, 17, tzinfo=UTC)


def test_an_english_plan_is_read_as_english_beside_german() -> None:
    english = JournalPolicy(zone=BERLIN)
    for phrase in (
        "meet Teo on friday at 5pm",
        "pay the rent by 31 March",
        "see Mai tomorrow at 9",
    ):
        assert told(phrase, BOTH) == told(phrase, english) is not None
        assert told(phrase, GERMAN) is None
    # The day says which language it is, in a text of both.
    assert told("call mum am 10. März at 6pm", BOTH) == "2026-03-10T18:00"


@pytest.mark.requirement("JSUP-03")
def test_a_german_plan_is_ended_by_what_it_is_about() -> None:
    plans: list[Item] = [
        item(1, "plan", "am Donnerstag, 12. März, um 15 Uhr zum Zahnarzt gehen"),
        item(2, "plan", "am Donnerstag, 12. März, um 18 Uhr Jule abholen"),
    ]
    found = match(Command("plan", "done", "zum Zahnarzt gehen"), plans, BOTH)
    assert found.item is plans[0]


def test_words_after_a_date_that_both_languages_read_are_kept() -> None:
    for text, left in (
        ("am 3.4.2027 Reifen wechseln", "Reifen wechseln"),
        ("am Freitag um 15:30 Zahnarzt", "Zahnarzt"),
        ("Zahnarzt am Freitag um 15:30 Uhr in Mitte", "Zahnarzt in Mitte"),
        ("Frau Freitag am Montag anrufen", "Frau Freitag anrufen"),
        ("ring Mr. Friday on monday", "ring Mr. Friday"),
    ):
        assert " ".join(undated(text, ("en", "de")).split()) == left
